import { PlatformError } from "../api/platform-error.ts";
import { pauseFor } from "../process/pause-for.ts";

/** How it is waited. */
export interface BrokerWait {
  /** Milliseconds between two tries. */
  readonly every: number;
  readonly stop: AbortSignal;
  /** Told why, at the first failure and when the reason is another one. */
  readonly onWait: (err: PlatformError) => void;
}

/**
 * Tries until `act` succeeds, as long as what fails may be tried again by its own word (`retryAfterSeconds`): the broker is
 * away, or not ready. Rejects with everything else, and when `stop` aborts.
 */
export async function whenBrokerIsThere(act: () => Promise<void>, { every, stop, onWait }: BrokerWait): Promise<void> {
  for (let said = ""; ;) {
    try {
      return await act();
    } catch (err) {
      if (!(err instanceof PlatformError) || err.retryAfterSeconds === undefined) throw err;
      if (err.message !== said) onWait(err);
      said = err.message;
    }
    await pauseFor(every, stop);
    stop.throwIfAborted();
  }
}
