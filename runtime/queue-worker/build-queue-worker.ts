import { CallHandler } from "./call-handler.ts";
import { CallbackHandler } from "./callback-handler.ts";
import { TurnTaker } from "./turn-taker.ts";
import type { WorkerParts } from "./worker-parts.ts";

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
  const calls = new CallHandler(parts);
  const callbacks = new CallbackHandler(parts, cutOff.signal);
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
      }, grace);
      await finished;
      await calls.idle();
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
