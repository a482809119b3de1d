import { release } from "../../../api/version.ts";
import { CliError } from "../../cli-error.ts";
import type { CommandContext } from "../../command-context.ts";
import { exitCode } from "../../exit-code.ts";

/** Codes of a gateway that keeps no history of calls. */
const withoutHistory: ReadonlySet<string | undefined> = new Set(["route_not_found", "history_off"]);

/**
 * Says why something that needs the history of calls cannot be done; `act` completes the sentence `Cannot <act>`, and
 * `instead` follows it.
 * @throws CliError always
 */
export async function refuseHistory(context: CommandContext, act: string, instead?: string): Promise<never> {
  const gateway = await context.gateway();
  const refuse = (reason: string, cause?: unknown): CliError => {
    const sentence = [`Cannot ${act}: ${reason}`, ...(instead === undefined ? [] : [instead])].join("; ");
    return new CliError(exitCode.failed, sentence, { cause });
  };
  try {
    await gateway.json("GET", "/system/calls", { query: { limit: 1 } });
  } catch (err) {
    if (err instanceof CliError && withoutHistory.has(err.code)) throw refuse("this gateway has no history", err);
    throw err;
  }
  throw refuse(`weir ${release} cannot read this gateway's history`);
}
