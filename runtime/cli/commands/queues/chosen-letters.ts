import { CliError, usageError } from "../../cli-error.ts";
import { exitCode } from "../../exit-code.ts";
import { isGivenCall, readCallId } from "../calls/call-id.ts";
import type { KeptLetter } from "./read-dead-letters.ts";

/**
 * The dead letters of the calls that were given, each by its id or its beginning; `act` as in `readCallId`.
 * @throws CliError when a call has none, or the beginning of an id fits several calls
 */
export function chosenLetters(
  act: string,
  given: readonly string[],
  letters: readonly KeptLetter[],
): readonly KeptLetter[] {
  const chosen = given.map((text) => {
    const id = readCallId(text, act);
    const found = letters.filter(({ letter }) => isGivenCall(id, letter.callId));
    const calls = new Set(found.map(({ letter }) => letter.callId)).size;
    if (calls === 0)
      throw new CliError(exitCode.notFound, `Cannot ${act} call "${text}": there is no dead letter of it`, {
        hint: "weir dead-letters list",
      });
    if (calls > 1)
      throw usageError(`Cannot ${act} call "${text}": the ids of ${calls} dead letters begin so; give more digits`);
    return found;
  });
  return [...new Set(chosen.flat())];
}
