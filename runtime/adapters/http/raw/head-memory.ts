import type { AnswerHead } from "./answer-head.ts";

/** Longer heads are read each time. */
const longest = 2_048;
/** Interim answers come before another head. */
const firstFinal = 200;

/** The last head that came from a replica in one piece: functions often say the same again, and what is known is not read twice. */
export class HeadMemory {
  #text = "";
  #head: AnswerHead | undefined;

  /** The head that `text` is, if it is the last one. */
  recall(text: string): AnswerHead | undefined {
    return this.#text === text ? this.#head : undefined;
  }

  /** `head` is all that `text` says, and does not change any more. */
  keep(text: string, head: AnswerHead): void {
    if (text.length > longest || head.status < firstFinal) return;
    this.#text = text;
    this.#head = head;
  }

  forget(): void {
    this.#text = "";
    this.#head = undefined;
  }
}
