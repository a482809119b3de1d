import { CliError } from "../../cli-error.ts";
import { exitCode } from "../../exit-code.ts";

/** Codes of a gateway that keeps no history of calls. */
const withoutHistory: ReadonlySet<string | undefined> = new Set(["route_not_found", "history_off"]);

/** Whether a gateway refused as it keeps no history of calls. */
export function hasNoHistory(err: unknown): boolean {
  return err instanceof CliError && withoutHistory.has(err.code);
}

/**
 * What `read` reads from the history of calls; `act` completes the sentence `Cannot <act>`, which says that there is
 * none, and `instead` follows it.
 * @throws CliError also as `read` does
 */
export async function fromHistory<T>(act: string, read: () => Promise<T>, instead?: string): Promise<T> {
  try {
    return await read();
  } catch (err) {
    if (!hasNoHistory(err)) throw err;
    const sentence = [`Cannot ${act}: this gateway has no history`, ...(instead === undefined ? [] : [instead])];
    throw new CliError(exitCode.failed, sentence.join("; "), { cause: err });
  }
}
