import type { BrokerFaultKind } from "../../api/broker/broker-fault.ts";
import type { QueuedCall } from "../calls/call.ts";

/** Outcome of `put`. */
export type PutOutcome =
  | { readonly kind: "stored" }
  /** Certainly not stored: it can be sent again at any time. */
  | { readonly kind: "refused"; readonly because: "full" | "too-large"; readonly cause?: unknown }
  | Unavailable
  /** No reply came: it may be stored. */
  | { readonly kind: "unknown"; readonly fault?: BrokerFaultKind | undefined; readonly cause?: unknown };

/** Certainly not stored, as the store cannot, and why as far as that is known. */
export interface Unavailable {
  readonly kind: "refused";
  readonly because: "unavailable";
  readonly fault?: BrokerFaultKind | undefined;
  readonly cause?: unknown;
}

/**
 * Holds calls until a worker has dealt with them.
 *
 * - `put` resolves with `stored` only when a crash of any one process can no longer lose the call. The same id and
 *   redrive put again within two minutes are stored once. It never waits beyond `until` (monotonic milliseconds, as
 *   `performance.now()` counts), nor half a second longer once `isAbandoned`, and refuses at once while the store has
 *   been unavailable for more than a second; for more than five where it has several servers.
 */
export interface CallQueue {
  /** Whether the store has several servers, which elect another leader when they lose one. */
  readonly isReplicated?: boolean;
  put(call: QueuedCall, until: number, redrives?: number, isAbandoned?: () => boolean): Promise<PutOutcome>;
}

/** A message delivered from a queue, leased until it is acknowledged or requeued, or until the lease ends. */
export interface Delivery<T> {
  /** What was read, or why it is unreadable. */
  readonly content: { readonly read: T } | { readonly unreadable: string };
  /** As stored, for dead letters. */
  readonly raw: { readonly headers: ReadonlyMap<string, string>; readonly body: Uint8Array };
  readonly queue: string;
  /** Position in the store; unique per queue. */
  readonly sequence: number;
  /** When it was stored, Unix milliseconds of the store's clock. */
  readonly storedAt: number;
  /** Monotonic milliseconds at which it reached this process: its lease counts from here. */
  readonly deliveredAt: number;
  /** Requests the whole lease again; false when the request could not be sent. */
  extend(): boolean;
  /** Ends the delivery: true once the store has confirmed that. Tries five times, one second each. */
  acknowledge(): Promise<boolean>;
  /** Lets the store deliver it again after `delay` milliseconds. */
  requeue(delay: number): void;
}

/**
 * Receives from one queue.
 *
 * - `take` passes deliveries to `handle` in the order they were put, requeued ones when due, and never more than
 *   `slots` of which `handle` has not resolved. Once `signal` aborts it requests no more, requeues what still arrives,
 *   and resolves after the last `handle`.
 * - With `mayAsk` it requests deliveries only while that returns true, and checks again at least once a second.
 * - What is not acknowledged within the lease is delivered again.
 * - While the store cannot be reached it keeps trying.
 */
export interface DeliverySource<T> {
  take(
    slots: number,
    handle: (delivery: Delivery<T>) => Promise<void>,
    signal: AbortSignal,
    mayAsk?: () => boolean,
  ): Promise<void>;
}
