/** What became of a dead letter that was to be redriven or deleted. */
export type LetterOutcome =
  | { readonly kind: "done" }
  /** `sentence` is the gateway's. */
  | { readonly kind: "refused"; readonly callId: string; readonly sentence: string };

/** Ids that are named with a reason; of more only the number. */
const mostNamed = 3;

/** As in `redriven 97, refused 3`; `done` is the word for success. */
export function outcomeLine(done: string, outcomes: readonly LetterOutcome[]): string {
  const refused = refusals(outcomes).length;
  return `${done} ${outcomes.length - refused}${refused === 0 ? "" : `, refused ${refused}`}`;
}

/** Why some were refused, a line for each reason, the most frequent one first. */
export function refusalLines(outcomes: readonly LetterOutcome[]): readonly string[] {
  const groups = Map.groupBy(refusals(outcomes), reasonOf);
  return [...groups]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([reason, group]) => {
      const [first] = group;
      if (first !== undefined && group.length === 1) return first.sentence;
      const named = group.slice(0, mostNamed).map(({ callId }) => callId);
      const more = group.length > mostNamed ? `, and ${group.length - mostNamed} more` : "";
      return `${group.length} refused: ${reason} (${named.join(", ")}${more})`;
    });
}

type Refusal = Extract<LetterOutcome, { kind: "refused" }>;

function refusals(outcomes: readonly LetterOutcome[]): readonly Refusal[] {
  return outcomes.filter((outcome) => outcome.kind === "refused");
}

/** The sentence without the beginning that names the call. */
function reasonOf({ callId, sentence }: Refusal): string {
  const [start = "", ...rest] = sentence.split(`"${callId}": `);
  return start.startsWith("Cannot ") && rest.length > 0 ? rest.join(`"${callId}": `) : sentence;
}
