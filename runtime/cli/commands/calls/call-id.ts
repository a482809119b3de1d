import { parseCallId } from "../../../api/grammar.ts";
import { usageError } from "../../cli-error.ts";
import type { CommandContext } from "../../command-context.ts";
import { refuseHistory } from "./refuse-history.ts";

/** The id of a call as a person gives it: the whole of it, or digits of its beginning, without dashes. */
export type GivenCallId =
  | { readonly kind: "whole"; readonly id: string }
  | { readonly kind: "start"; readonly digits: string };

/** Fewest digits of a beginning. */
const fewest = 6;
const longest = 36;

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
 * @throws CliError as above, and for the beginning of an id where no history knows the rest
 */
export async function wholeCallId(context: CommandContext, text: string, act: string): Promise<string> {
  const given = readCallId(text, act);
  return given.kind === "whole"
    ? given.id
    : refuseHistory(context, `${act} call "${text}"`, "its beginning is not enough; give its whole id");
}
