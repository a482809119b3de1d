import type { DeadReason } from "../calls/call-entry.ts";
import type { QueuedCall } from "../calls/call.ts";
import type { FunctionRef } from "../functions/function-ref.ts";
import type { QueuedCallback } from "./callback-queue.ts";

/** What is known of a call or callback that was given up. */
export interface DeadLetterFacts {
  readonly kind: "call" | "callback";
  readonly id: string;
  readonly queue: string;
  readonly function: FunctionRef | undefined;
  readonly reason: DeadReason | "callback";
  /** Runs that were made; for a callback how often it was sent. */
  readonly attempts: number;
  readonly lastStatus: number | undefined;
  /** Unix milliseconds. */
  readonly acceptedAt: number;
  /** Unix milliseconds. */
  readonly deadAt: number;
  readonly redrives: number;
}

/** A call or callback that was given up, kept for people. */
export interface DeadLetter extends DeadLetterFacts {
  /** The original message, as it lay in the queue; for a callback the output. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
  /** The callback itself, with its output; only of kind callback. */
  readonly callback?: QueuedCallback;
}

/** What can be sent again. */
export type DeadLetterContent =
  | { readonly kind: "call"; readonly call: QueuedCall }
  | { readonly kind: "callback"; readonly callback: QueuedCallback }
  | { readonly kind: "unreadable"; readonly why: string };

/** A dead letter as it lies in the store. */
export interface StoredDeadLetter extends DeadLetterFacts {
  /** Place in the store; a later one is greater. */
  readonly position: number;
  /** Bytes of its body. */
  readonly size: number;
}

/** Keeps dead letters; the same id, kind and redrive put twice are kept once. Rejects with `queue_unavailable`. */
export interface DeadLetters {
  put(letter: DeadLetter): Promise<void>;
}

/**
 * What is kept, for people. Everything rejects with `queue_unavailable` when the store cannot be reached.
 *
 * - `list` gives the letters of `queue` behind `after` (0 = from the first), oldest first: at most `limit`, and fewer
 *   when they are large. `more` says whether there are others behind the last one given.
 * - `find` gives the letter of a call before that of its callback.
 * - `remove` takes away exactly the letter that was read, not one that came in its place; nothing to remove is no failure.
 */
export interface DeadLetterStore {
  list(
    queue: string,
    after: number,
    limit: number,
  ): Promise<{ readonly letters: readonly StoredDeadLetter[]; readonly more: boolean }>;
  find(queue: string, id: string): Promise<readonly (StoredDeadLetter & { readonly content: DeadLetterContent })[]>;
  remove(letter: StoredDeadLetter): Promise<void>;
  /** Letters of `queue`. */
  count(queue: string): Promise<number>;
}
