import type { Server } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds after which listening stops even if more connections keep coming. */
const maxWait = 5_000;

/**
 * Stops listening once no connection waits to be accepted: the kernel resets those that are left when listening stops.
 * Node accepts one in each turn of its event loop, so a turn without one shows that none is left. `close` makes the
 * server stop listening; accepted connections are not affected.
 */
export async function stopAccepting(server: Server, close: () => void, within = maxWait): Promise<void> {
  let accepted = 0;
  const count = (): void => void (accepted += 1);
  server.on("connection", count).on("drop", count);
  const until = performance.now() + within;
  for (let seen = -1; seen !== accepted && performance.now() < until;) {
    seen = accepted;
    await nextTurn();
    await nextTurn();
  }
  server.off("connection", count).off("drop", count);
  close();
}
