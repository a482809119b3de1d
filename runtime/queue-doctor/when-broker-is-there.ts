import { PlatformError } from "../api/platform-error.ts";
import { pauseFor } from "../process/pause-for.ts";

/** How to wait. */
export interface BrokerWait {
  /** Milliseconds between two attempts. */
  readonly every: number;
  readonly stop: AbortSignal;
  /** Called with the reason, at the first failure and whenever the reason changes. */
  readonly onWait: (err: PlatformError) => void;
}

/**
 * Repeats `act` until it succeeds, as long as its error asks for a retry (`retryAfterSeconds`): the broker is
 * unavailable or not ready. Rejects with any other error, and when `stop` aborts.
 */
export async function whenBrokerIsThere(act: () => Promise<void>, { every, stop, onWait }: BrokerWait): Promise<void> {
  for (let lastMessage = ""; ;) {
    try {
      return await act();
    } catch (err) {
      if (!(err instanceof PlatformError) || err.retryAfterSeconds === undefined) throw err;
      if (err.message !== lastMessage) onWait(err);
      lastMessage = err.message;
    }
    await pauseFor(every, stop);
    stop.throwIfAborted();
  }
}
