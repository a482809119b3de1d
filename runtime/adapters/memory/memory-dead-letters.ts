import type { DeadLetter, DeadLetters } from "../../core/ports/dead-letters.ts";

/** Keeps dead letters in this process: the last redrive of each call and each callback. */
export class MemoryDeadLetters implements DeadLetters {
  readonly #letters = new Map<string, DeadLetter>();

  async put(letter: DeadLetter): Promise<void> {
    const key = `${letter.queue}.${letter.id}.${letter.kind}`;
    if (this.#letters.get(key)?.redrives === letter.redrives) return;
    this.#letters.delete(key);
    this.#letters.set(key, structuredClone(letter));
  }

  /** In the order in which they came. */
  list(): readonly DeadLetter[] {
    return [...this.#letters.values()];
  }
}
