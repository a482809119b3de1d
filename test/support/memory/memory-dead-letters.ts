import type {
  DeadLetter,
  DeadLetters,
  DeadLetterStore,
  DeadLetterContent,
  StoredDeadLetter,
} from "../../../runtime/core/ports/dead-letters.ts";
import { decodeCall } from "./memory-call-queue.ts";

interface Kept {
  readonly letter: DeadLetter;
  readonly position: number;
}

/** Keeps dead letters in this process: the last redrive of each call and each callback. */
export class MemoryDeadLetters implements DeadLetters, DeadLetterStore {
  readonly #kept = new Map<string, Kept>();
  #last = 0;

  async put(letter: DeadLetter): Promise<void> {
    const key = keyOf(letter);
    if (this.#kept.get(key)?.letter.redrives === letter.redrives) return;
    this.#kept.delete(key);
    this.#kept.set(key, { letter: structuredClone(letter), position: ++this.#last });
  }

  async list(
    queue: string,
    after: number,
    limit: number,
  ): Promise<{ readonly letters: readonly StoredDeadLetter[]; readonly more: boolean }> {
    const found = this.#of(queue).filter(({ position }) => position > after);
    return { letters: found.slice(0, limit).map(stored), more: found.length > limit };
  }

  async find(
    queue: string,
    id: string,
  ): Promise<readonly (StoredDeadLetter & { readonly content: DeadLetterContent })[]> {
    return (["call", "callback"] as const).flatMap((kind) => {
      const kept = this.#kept.get(keyOf({ queue, id, kind }));
      return kept === undefined ? [] : [{ ...stored(kept), content: contentOf(structuredClone(kept.letter)) }];
    });
  }

  async remove(letter: StoredDeadLetter): Promise<void> {
    const key = keyOf(letter);
    if (this.#kept.get(key)?.position === letter.position) this.#kept.delete(key);
  }

  async count(queue: string): Promise<number> {
    return this.#of(queue).length;
  }

  /** All dead letters, in order of arrival. */
  all(): readonly DeadLetter[] {
    return [...this.#kept.values()].map(({ letter }) => letter);
  }

  #of(queue: string): readonly Kept[] {
    return [...this.#kept.values()].filter(({ letter }) => letter.queue === queue);
  }
}

function keyOf({ queue, id, kind }: Pick<DeadLetter, "queue" | "id" | "kind">): string {
  return `${queue}.${id}.${kind}`;
}

function stored({
  letter: { headers: _headers, body, callback: _callback, ...facts },
  position,
}: Kept): StoredDeadLetter {
  return { ...facts, position, size: body.byteLength };
}

function contentOf({ kind, reason, headers, body, callback }: DeadLetter): DeadLetterContent {
  if (kind === "callback") {
    return callback === undefined ? { kind: "unreadable", why: "it holds no callback" } : { kind, callback };
  }
  const call = decodeCall(headers, body);
  if (call === undefined || reason === "undecodable") return { kind: "unreadable", why: "it holds no call" };
  return { kind, call };
}
