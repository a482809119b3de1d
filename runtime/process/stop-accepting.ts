import type { Server } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds after which the door is closed even if more keep coming. */
const longest = 5_000;

/**
 * Stops listening once no connection waits to be taken: the kernel resets those that are left when the door is closed.
 * Node takes one in each turn of its loop, so a turn without one shows that none is left. `close` is how the server stops
 * listening; connections that were taken are not touched.
 */
export async function stopAccepting(server: Server, close: () => void, within = longest): Promise<void> {
  let taken = 0;
  const count = (): void => void (taken += 1);
  server.on("connection", count).on("drop", count);
  const until = performance.now() + within;
  for (let seen = -1; seen !== taken && performance.now() < until;) {
    seen = taken;
    await nextTurn();
    await nextTurn();
  }
  server.off("connection", count).off("drop", count);
  close();
}
