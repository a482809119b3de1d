import type { Server } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds after which listening stops even if more connections keep coming. */
const maxWait = 5_000;

/** When listening stops; in milliseconds. */
export interface StopAccepting {
  /** No connection came for so long. */
  readonly quiet?: number;
  /** At the latest. */
  readonly within?: number;
}

/**
 * Stops listening once no connection waits to be accepted: the kernel resets those that are left when listening stops.
 * Node accepts one in each turn of its event loop, so a turn without one shows that none is left. One that comes between
 * that turn and the end of listening is reset all the same: callers that may still connect need a `quiet` time. `close`
 * makes the server stop listening; accepted connections are not affected.
 */
export async function stopAccepting(
  server: Server,
  close: () => void,
  { quiet = 0, within = maxWait }: StopAccepting = {},
): Promise<void> {
  let accepted = 0;
  const count = (): void => void (accepted += 1);
  server.on("connection", count).on("drop", count);
  const until = performance.now() + within;
  for (let seen = -1, left = within; seen !== accepted && left > 0; left = until - performance.now()) {
    seen = accepted;
    const wait = Math.min(quiet, left);
    if (wait > 0) await new Promise((resolve) => void setTimeout(resolve, wait));
    await nextTurn();
    await nextTurn();
  }
  server.off("connection", count).off("drop", count);
  close();
}
