import type { CallSource } from "../../../core/calls/call-entry.ts";
import type { CallKind, HistoryState } from "../../../core/history/history-row.ts";

/** Numbers that are stored in place of words: each word's place in a list that only grows at its end. */
class Codes<T extends string> {
  readonly #words: readonly T[];

  constructor(words: readonly T[]) {
    this.#words = words;
  }

  code(word: T): number {
    return this.#words.indexOf(word);
  }

  /** @throws Error for a number that this release does not know */
  word(code: number): T {
    const word = this.#words[code];
    if (word === undefined) throw new Error(`Cannot read call: ${code} is no code of ${this.#words.join(", ")}`);
    return word;
  }
}

/** The open states come first, and `done` is 3: indexes and statements say so in numbers. */
export const stateCodes = new Codes<HistoryState>([
  "queued",
  "running",
  "waiting",
  "done",
  "failed",
  "cancelled",
  "unknown",
]);
export const kindCodes = new Codes<CallKind>(["async", "sync"]);
export const sourceCodes = new Codes<CallSource>(["http", "replay"]);

/** Whether a call of this state may still change by itself. */
export function isOpenState(state: HistoryState): boolean {
  return stateCodes.code(state) < stateCodes.code("done");
}
