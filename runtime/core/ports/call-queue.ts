import type { QueuedCall } from "../calls/call.ts";

/** What became of a call that was put. */
export type PutOutcome =
  | { readonly kind: "stored" }
  /** Surely not stored: send it again at leisure. */
  | { readonly kind: "refused"; readonly because: "full" | "unavailable" | "too-large"; readonly cause?: unknown }
  /** No answer came: it may be stored. */
  | { readonly kind: "unknown"; readonly cause?: unknown };

/**
 * Holds calls until a worker has dealt with them.
 *
 * - `put` resolves with `stored` only when a crash of any one process can no longer lose the call. The same id and
 *   redrive put again within two minutes are stored once. It never waits beyond `until` (monotonic milliseconds, as
 *   `performance.now()` counts), and refuses at once while the store has been out of reach for more than a second.
 */
export interface CallQueue {
  put(call: QueuedCall, until: number, redrives?: number): Promise<PutOutcome>;
}

/** Something taken from a queue, on loan until it is acknowledged, put back, or its lease runs out. */
export interface Delivery<T> {
  /** Undefined with the reason if it could not be read. */
  readonly content: { readonly read: T } | { readonly unreadable: string };
  /** As it lies in the store, for dead letters. */
  readonly raw: { readonly headers: ReadonlyMap<string, string>; readonly body: Uint8Array };
  readonly queue: string;
  /** Position in the store; unique per queue. */
  readonly sequence: number;
  /** When the store took it, Unix milliseconds of the store's clock. */
  readonly storedAt: number;
  /** Monotonic milliseconds at which it reached this process: its lease counts from here. */
  readonly deliveredAt: number;
  /** Asks for the whole lease again; false when that could not be sent. */
  extend(): boolean;
  /** Done with: true once the store has confirmed it. Tries five times, one second each. */
  acknowledge(): Promise<boolean>;
  /** Offers it again after `delay` milliseconds. */
  requeue(delay: number): void;
}

/**
 * Takes from one queue.
 *
 * - `take` hands out deliveries in the order they were put, those put back when due, and never more than `slots` of
 *   which `handle` has not resolved. Once `signal` aborts it asks for no more, offers again what still arrives, and
 *   resolves after the last `handle`.
 * - With `mayAsk` it asks only while that says so, and looks again at least once a second.
 * - What is not acknowledged within the lease is offered again.
 * - While the store cannot be reached it goes on trying.
 */
export interface DeliverySource<T> {
  take(
    slots: number,
    handle: (delivery: Delivery<T>) => Promise<void>,
    signal: AbortSignal,
    mayAsk?: () => boolean,
  ): Promise<void>;
}
