import type { Duplex } from "node:stream";

/** Milliseconds that one side gets to end after the other did. */
const endGrace = 5_000;

/**
 * Carries bytes both ways between two connections, with back-pressure, until one of them closes; then both are closed.
 * When one only ends, the other gets 5 s to send the rest. What ended or closed before counts as well.
 */
export function joinSockets(one: Duplex, other: Duplex): void {
  let timer: NodeJS.Timeout | undefined;
  let open = 2;
  const close = (): void => {
    one.destroy();
    other.destroy();
  };
  const onEnd = (): void => {
    timer ??= setTimeout(close, endGrace);
  };
  const carry = (from: Duplex, to: Duplex): void => {
    from.on("error", close);
    // Its events have been: a client may leave just before its upgrade is answered.
    if (from.destroyed) {
      open -= 1;
      return close();
    }
    from.pipe(to);
    if (from.readableEnded) onEnd();
    else from.once("end", onEnd);
    from.once("close", () => {
      open -= 1;
      if (open === 0) clearTimeout(timer);
      // After an end the last bytes are still in transit; what the other side sends now is discarded.
      if (from.readableEnded) to.resume();
      else close();
    });
  };
  carry(one, other);
  carry(other, one);
}
