import { setMaxListeners } from "node:events";

import { CallHandler } from "./calls/call-handler.ts";
import { CallbackHandler } from "./callbacks/callback-handler.ts";
import { TurnTaker } from "./calls/turn-taker.ts";
import type { WorkerParts } from "./worker-parts.ts";

/**
 * How long a stopping worker tries to record what became of its calls, milliseconds. After that the broker evidently
 * stores nothing, so the calls are abandoned; they are redelivered when their leases end.
 */
const longestHandBack = 5_000;
/** Callbacks that one worker sends at once. */
const callbackSlots = 32;

/** One worker of one queue. */
export interface QueueWorker {
  /** Takes calls and callbacks until `stop`; resolves after the last of them is settled or handed back. */
  run(): Promise<void>;
  /**
   * Takes no more calls, lets runs finish for `grace` milliseconds, then aborts the rest and hands their calls back.
   * Resolves when `run` does.
   */
  stop(grace: number): Promise<void>;
  /** Calls it can run at once now; 0 while another worker has the turn of a strict queue. */
  readonly slots: number;
  /** Runs in flight. */
  readonly running: number;
}

/** Assembles a worker; it takes no call before `run`. */
export function buildQueueWorker(parts: WorkerParts): QueueWorker {
  const stopTaking = new AbortController();
  const abortSends = new AbortController();
  const abandon = new AbortController();
  // Every lease adds a listener.
  setMaxListeners(0, abandon.signal);
  const calls = new CallHandler(parts, abandon.signal);
  const callbacks = new CallbackHandler(parts, abortSends.signal, abandon.signal);
  const turns = parts.queue.strict ? new TurnTaker(parts, (delivery, turn) => calls.handle(delivery, turn)) : undefined;
  let finished: Promise<void> | undefined;

  const take = async (): Promise<void> => {
    const unsubscribe = parts.signals.onCancelled((id) => calls.heardCancelled(id));
    try {
      await Promise.all([
        turns === undefined
          ? parts.deliveries.take(parts.slots, (delivery) => calls.handle(delivery), stopTaking.signal)
          : turns.take(stopTaking.signal),
        parts.callbackDeliveries.take(callbackSlots, (delivery) => callbacks.handle(delivery), stopTaking.signal),
      ]);
    } finally {
      unsubscribe();
    }
  };
  const run = (): Promise<void> => (finished ??= take());

  return {
    run,
    stop: async (grace) => {
      stopTaking.abort();
      calls.stopWaiting();
      const timer = setTimeout(() => {
        calls.handBack();
        abortSends.abort();
        setTimeout(() => abandon.abort(), longestHandBack).unref();
      }, grace);
      await finished;
      await calls.idle();
      // Deferred writes that have not succeeded by now are dropped.
      abortSends.abort();
      clearTimeout(timer);
    },
    get slots() {
      if (turns === undefined) return parts.slots;
      return turns.hasTurn ? 1 : 0;
    },
    get running() {
      return calls.running;
    },
  };
}
