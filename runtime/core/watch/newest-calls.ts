import type { CallSummary } from "../../api/schemas/history/call-summary.ts";
import { callSummary } from "../history/call-summary.ts";
import type { CallRow } from "../history/history-row.ts";
import type { CallPlace } from "../ports/call-history.ts";

/** Calls of one event. */
export const maxCalls = 50;

/** How a list of the newest calls differs from what it was. */
export interface CallListChange {
  /** New or changed, newest first. */
  readonly calls: readonly CallSummary[];
  /** Ids of those that the filter no longer matches. */
  readonly removed: readonly string[];
}

interface SeenCall {
  readonly row: CallRow;
  readonly summary: CallSummary;
  readonly text: string;
}

/** The newest calls of a list, as they were last seen. */
export class NewestCalls {
  #seen: ReadonlyMap<string, SeenCall> = new Map();

  /** All of them, newest first. */
  get calls(): readonly CallSummary[] {
    return [...this.#seen.values()].map(({ summary }) => summary);
  }

  /**
   * Whether calls that came between two looks may be in neither: the list is full, and none of those that were its
   * newest is in it.
   */
  mayHaveMissed(rows: readonly CallRow[]): boolean {
    return this.#seen.size > 0 && rows.length >= maxCalls && !rows.some(({ id }) => this.#seen.has(id));
  }

  /** Whether a call was in the list already. */
  has(id: string): boolean {
    return this.#seen.has(id);
  }

  /** Takes the first page of the list as it is now; `next` is where it ends, if there is more. */
  replace(rows: readonly CallRow[], next: CallPlace | undefined): CallListChange {
    const before = this.#seen;
    this.#seen = new Map(
      rows.map((row) => {
        const summary = callSummary(row);
        return [row.id, { row, summary, text: JSON.stringify(summary) }];
      }),
    );
    const calls = [...this.#seen].flatMap(([id, { summary, text }]) =>
      before.get(id)?.text === text ? [] : [summary],
    );
    const removed = [...before].flatMap(([id, { row }]) =>
      this.#seen.has(id) || (next !== undefined && isBeyond(row, next)) ? [] : [id],
    );
    return { calls, removed };
  }
}

/** Whether a call is older than a page reaches, so that newer ones pushed it out of it. */
function isBeyond({ accepted, id }: CallRow, end: CallPlace): boolean {
  return accepted === end.accepted ? id < end.id : accepted < end.accepted;
}
