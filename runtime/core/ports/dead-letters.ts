import type { DeadReason } from "../calls/call-entry.ts";
import type { QueuedCall } from "../calls/call.ts";
import type { FunctionRef } from "../functions/function-ref.ts";
import type { QueuedCallback } from "./callback-queue.ts";

/** Facts about a call or callback that was given up. */
export interface DeadLetterFacts {
  readonly kind: "call" | "callback";
  readonly id: string;
  readonly queue: string;
  readonly function: FunctionRef | undefined;
  readonly reason: DeadReason | "callback";
  /** Number of runs; for a callback how often it was sent. */
  readonly attempts: number;
  readonly lastStatus: number | undefined;
  /** Unix milliseconds. */
  readonly acceptedAt: number;
  /** Unix milliseconds. */
  readonly deadAt: number;
  readonly redrives: number;
}

/** A call or callback that was given up, kept for people to decide on. */
export interface DeadLetter extends DeadLetterFacts {
  /** The original message as stored in the queue; for a callback the output. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
  /** The callback itself, with its output; only of kind callback. */
  readonly callback?: QueuedCallback;
}

/** What of a dead letter can be sent again. */
export type DeadLetterContent =
  | { readonly kind: "call"; readonly call: QueuedCall }
  | { readonly kind: "callback"; readonly callback: QueuedCallback }
  | { readonly kind: "unreadable"; readonly why: string };

/** A dead letter as stored. */
export interface StoredDeadLetter extends DeadLetterFacts {
  /** Position in the store; later letters have greater ones. */
  readonly position: number;
  /** Bytes of its body. */
  readonly size: number;
}

/** Keeps dead letters; the same id, kind and redrive put twice are kept once. Rejects with `queue_unavailable`. */
export interface DeadLetters {
  put(letter: DeadLetter): Promise<void>;
}

/** One page of letters. */
export interface DeadLetterList {
  readonly letters: readonly StoredDeadLetter[];
  /** Whether others follow. */
  readonly more: boolean;
  /** The position after which to go on, if it is not that of the last one returned. */
  readonly next?: number | undefined;
}

/**
 * Lets people list, find and remove dead letters. All methods reject with `queue_unavailable` when the store cannot be
 * reached.
 *
 * - `list` returns the letters of `queue` after position `after` (0 = from the first), oldest first: at most `limit`,
 *   and fewer when they are large. `more` says whether others follow the last one returned.
 * - `find` returns the letter of a call before that of its callback.
 * - `remove` removes exactly the letter that was read, not one that replaced it; an absent letter is not an error.
 */
export interface DeadLetterStore {
  list(queue: string, after: number, limit: number): Promise<DeadLetterList>;
  find(queue: string, id: string): Promise<readonly (StoredDeadLetter & { readonly content: DeadLetterContent })[]>;
  remove(letter: StoredDeadLetter): Promise<void>;
  /** Number of letters of `queue`. */
  count(queue: string): Promise<number>;
}
