import { CallHandler } from "./call-handler.ts";
import { CallbackHandler } from "./callback-handler.ts";
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
  /** Runs under way. */
  readonly running: number;
}

/** Assembles a worker; nothing is taken before `run`. */
export function buildQueueWorker(parts: WorkerParts): QueueWorker {
  const stopTaking = new AbortController();
  const cutOff = new AbortController();
  const calls = new CallHandler(parts);
  const callbacks = new CallbackHandler(parts, cutOff.signal);
  let finished: Promise<void> | undefined;

  const take = async (): Promise<void> => {
    const forget = parts.signals.onCancelled((id) => calls.heardCancelled(id));
    try {
      await Promise.all([
        parts.deliveries.take(parts.slots, (delivery) => calls.handle(delivery), stopTaking.signal),
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
      const timer = setTimeout(() => {
        calls.handBack();
        cutOff.abort();
      }, grace);
      await finished;
      clearTimeout(timer);
    },
    get running() {
      return calls.running;
    },
  };
}
