import { parseCallId } from "../../../api/grammar.ts";
import { CliError, usageError } from "../../cli-error.ts";
import type { CommandContext } from "../../command-context.ts";
import { exitCode } from "../../exit-code.ts";
import { readCalls } from "./read-calls.ts";
import { fromHistory } from "./refuse-history.ts";

/** The id of a call as a person gives it: the whole of it, or digits of its beginning, without dashes. */
export type GivenCallId =
  | { readonly kind: "whole"; readonly id: string }
  | { readonly kind: "start"; readonly digits: string };

/** Fewest digits of a beginning. */
const fewest = 6;
const longest = 36;
/** Most calls that are named where a beginning fits several. */
const mostNamed = 5;

/**
 * Reads an id; `act` completes the sentence `Cannot <act> call "…"`.
 * @throws CliError when it is neither a UUID nor the beginning of one
 */
export function readCallId(text: string, act: string): GivenCallId {
  const id = parseCallId(text);
  if (id !== undefined) return { kind: "whole", id };
  const digits = text.replaceAll("-", "").toLowerCase();
  if (/^[0-9a-f]+$/.test(digits) && digits.length >= fewest && text.length < longest) return { kind: "start", digits };
  throw usageError(`Cannot ${act} call "${text}": an id is a UUID, or at least ${fewest} digits of its beginning`);
}

/** Whether an id in lower case is the one that was given. */
export function isGivenCall(given: GivenCallId, id: string): boolean {
  return given.kind === "whole" ? given.id === id : id.replaceAll("-", "").startsWith(given.digits);
}

/**
 * The whole id of the call that was given.
 * @throws CliError as above; for a beginning that no call has, or several, and where no history knows the rest
 */
export async function wholeCallId(context: CommandContext, text: string, act: string): Promise<string> {
  const given = readCallId(text, act);
  if (given.kind === "whole") return given.id;
  const gateway = await context.gateway();
  const { items } = await fromHistory(
    `${act} call "${text}"`,
    () => readCalls(gateway, { id: given.digits }, mostNamed),
    "its beginning is not enough; give its whole id",
  );
  const [first, ...others] = items.filter(({ callId }) => isGivenCall(given, callId));
  if (first === undefined)
    throw new CliError(exitCode.notFound, `Cannot ${act} call "${text}": the history has no call that begins so`);
  if (others.length === 0) return first.callId;
  const ids = [first, ...others].map(({ callId }) => callId).join(", ");
  throw usageError(`Cannot ${act} call "${text}": several calls begin so, give more digits: ${ids}`);
}
