import { setMaxListeners } from "node:events";

import { CallHandler } from "./calls/call-handler.ts";
import { CallbackHandler } from "./callbacks/callback-handler.ts";
import { TurnTaker } from "./calls/turn-taker.ts";
import type { WorkerParts } from "./worker-parts.ts";

/**
 * How long a worker that stops tries to write what became of its calls, milliseconds. Then it lets them go, as the broker
 * stores nothing: they are offered again when their leases are over.
 */
const longestHandBack = 5_000;
/** Callbacks that one worker sends at once. */
const callbackSlots = 32;

/** One worker of one queue. */
export interface QueueWorker {
  /** Takes calls and callbacks until `stop`; resolves after the last of them is settled or handed back. */
  run(): Promise<void>;
  /**
   * Takes no more, lets runs finish for `grace` milliseconds, then cuts the rest off and hands their calls back.
   * Resolves when `run` does.
   */
  stop(grace: number): Promise<void>;
  /** Calls it can run at once now; 0 while another has the turn of a strict queue. */
  readonly slots: number;
  /** Runs under way. */
  readonly running: number;
}

/** Assembles a worker; nothing is taken before `run`. */
export function buildQueueWorker(parts: WorkerParts): QueueWorker {
  const stopTaking = new AbortController();
  const cutOff = new AbortController();
  const letGo = new AbortController();
  // Each lease listens.
  setMaxListeners(0, letGo.signal);
  const calls = new CallHandler(parts, letGo.signal);
  const callbacks = new CallbackHandler(parts, cutOff.signal, letGo.signal);
  const turns = parts.queue.strict ? new TurnTaker(parts, (delivery, turn) => calls.handle(delivery, turn)) : undefined;
  let finished: Promise<void> | undefined;

  const take = async (): Promise<void> => {
    const forget = parts.signals.onCancelled((id) => calls.heardCancelled(id));
    try {
      await Promise.all([
        turns === undefined
          ? parts.deliveries.take(parts.slots, (delivery) => calls.handle(delivery), stopTaking.signal)
          : turns.take(stopTaking.signal),
        parts.callbackDeliveries.take(callbackSlots, (delivery) => callbacks.handle(delivery), stopTaking.signal),
      ]);
    } finally {
      forget();
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
        cutOff.abort();
        setTimeout(() => letGo.abort(), longestHandBack).unref();
      }, grace);
      await finished;
      await calls.idle();
      // What could not be written by now is not tried any more.
      cutOff.abort();
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
