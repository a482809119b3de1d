import { runLimited } from "../client/run-limited.ts";
import { CliError } from "../cli-error.ts";
import { exitCode, type ExitCode } from "../exit-code.ts";

/** What came of one item. */
export type Settled<Item, Result> =
  | { readonly kind: "done"; readonly item: Item; readonly result: Result }
  | { readonly kind: "failed"; readonly item: Item; readonly error: CliError };

/** Requests of one command at the same time. */
const atOnce = 4;

/** Calls `act` for every item, four at a time; a failure leaves the others alone, but Ctrl-C and defects end all. */
export async function settleEach<Item, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
): Promise<readonly Settled<Item, Result>[]> {
  const settled = new Map<Item, Settled<Item, Result>>();
  await runLimited(items, atOnce, async (item) => {
    try {
      settled.set(item, { kind: "done", item, result: await act(item) });
    } catch (error) {
      if (!(error instanceof CliError) || error.exit === exitCode.interrupted) throw error;
      settled.set(item, { kind: "failed", item, error });
    }
  });
  return items.flatMap((item) => settled.get(item) ?? []);
}

/**
 * Results for all items, in their order.
 * @throws CliError with everything that went wrong, a sentence each
 */
export async function resultOfEach<Item, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const settled = await settleEach(items, act);
  const errors = settled.flatMap((each) => (each.kind === "failed" ? [each.error] : []));
  const [first] = errors;
  if (first === undefined) return settled.flatMap((each) => (each.kind === "done" ? [each.result] : []));
  if (errors.length === 1) throw first;
  throw new CliError(sharedExit(errors), errors.map(({ message }) => message).join("\n"));
}

/** The exit code of several failures: theirs, if it is the same, else that of a failure. */
export function sharedExit(errors: readonly CliError[]): ExitCode {
  const [first, ...others] = new Set(errors.map(({ exit }) => exit));
  return first !== undefined && others.length === 0 ? first : exitCode.failed;
}
