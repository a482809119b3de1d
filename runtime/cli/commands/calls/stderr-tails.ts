import type { CallAttemptDetail } from "../../../api/schemas/history/call-attempt-detail.ts";
import { escapeLine } from "../../output/escape-text.ts";

/** What the function wrote to standard error during runs that failed, a block each, with an empty line before it. */
export function stderrTails(attempts: readonly CallAttemptDetail[]): string {
  return attempts
    .flatMap(({ number, stderrTail }) => {
      if (stderrTail === undefined) return [];
      const lines = stderrTail.lines.map((line) => `  ${escapeLine(line)}\n`);
      return [`\nrun ${number} wrote to standard error:\n${lines.join("")}`];
    })
    .join("");
}
