import type { FailureReason } from "../call-entry.ts";
import type { FunctionRef } from "../function-ref.ts";

/** A call or callback that was given up, kept for people. */
export interface DeadLetter {
  readonly kind: "call" | "callback";
  readonly id: string;
  readonly queue: string;
  readonly function: FunctionRef | undefined;
  readonly reason: FailureReason | "callback";
  readonly attempts: number;
  readonly lastStatus: number | undefined;
  /** Unix milliseconds. */
  readonly acceptedAt: number;
  /** Unix milliseconds. */
  readonly deadAt: number;
  readonly redrives: number;
  /** The original message, as it lay in the queue; for a callback the output. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

/** Keeps dead letters; the same id, kind and redrive put twice are kept once. Rejects with `queue_unavailable`. */
export interface DeadLetters {
  put(letter: DeadLetter): Promise<void>;
}
