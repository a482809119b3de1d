import type { DeadLetterPage, DeadLetterView } from "../../../../api/schemas/queue-status.ts";
import type { Requests } from "../../../data/requests/requests.ts";
import { lettersPath } from "../../calls/call-acts.ts";

/** A dead letter and its queue. */
export interface LetterOfQueue extends DeadLetterView {
  readonly queue: string;
}

/** What narrows the list of dead letters. */
export interface LetterFilter {
  /** `name` or `name.namespace`; empty = of all. */
  readonly function: string;
  /** Empty = for all. */
  readonly reason: string;
}

/** The largest page that a gateway sends. */
const pageSize = 1_000;

/** All dead letters of some queues, at most `most`; `isWhole`: there are no more. */
export async function readLetters(
  requests: Requests,
  queues: readonly string[],
  most: number,
  signal: AbortSignal,
): Promise<{ readonly letters: readonly LetterOfQueue[]; readonly isWhole: boolean }> {
  const letters: LetterOfQueue[] = [];
  for (const queue of queues) {
    let after: string | undefined;
    do {
      if (letters.length >= most) return { letters: newestFirst(letters.slice(0, most)), isWhole: false };
      const page: DeadLetterPage = await requests.get<DeadLetterPage>(lettersPath(queue), {
        query: { limit: pageSize, after },
        signal,
        act: `read the dead letters of queue "${queue}"`,
      });
      for (const letter of page.items) letters.push({ ...letter, queue });
      after = page.next;
    } while (after !== undefined);
  }
  return { letters: newestFirst(letters), isWhole: true };
}

function newestFirst(letters: readonly LetterOfQueue[]): readonly LetterOfQueue[] {
  return letters.toSorted((a, b) => (a.deadAt === b.deadAt ? 0 : a.deadAt < b.deadAt ? 1 : -1));
}

/** Whether a letter fits a filter. */
export function fitsLetterFilter(
  { functionName = "", namespace = "", reason }: DeadLetterView,
  { function: name, reason: wanted }: LetterFilter,
): boolean {
  if (wanted !== "" && reason !== wanted) return false;
  return name === "" || name === functionName || name === `${functionName}.${namespace}`;
}
