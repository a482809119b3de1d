import { RequestFailure } from "../../../data/requests/request-failure.ts";
import { pause } from "../../../data/requests/wait-for.ts";

/** Seconds until a busy gateway is asked again that did not say when. */
const busyWait = 1;

/**
 * Sends something until the gateway is not too busy for it. `waiting` hears for how many seconds it waits, and of 0 when
 * it goes on.
 */
export async function patiently<Result>(
  send: () => Promise<Result>,
  signal: AbortSignal,
  waiting: (seconds: number) => void,
): Promise<Result> {
  for (;;) {
    try {
      return await send();
    } catch (err) {
      if (!(err instanceof RequestFailure) || err.status !== 429 || signal.aborted) throw err;
      const seconds = err.retryAfterSeconds ?? busyWait;
      waiting(seconds);
      await pause(seconds * 1_000, signal);
      waiting(0);
      signal.throwIfAborted();
    }
  }
}
