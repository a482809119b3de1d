import type { Duplex } from "node:stream";

/** Milliseconds that one side gets to end after the other did. */
const endGrace = 5_000;

/**
 * Carries bytes both ways between two connections, as fast as the slower side reads, until one of them closes; then both
 * are closed. One that only ended leaves the other 5 s for what it still has to say.
 */
export function joinSockets(one: Duplex, other: Duplex): void {
  let timer: NodeJS.Timeout | undefined;
  let open = 2;
  const close = (): void => {
    one.destroy();
    other.destroy();
  };
  const carry = (from: Duplex, to: Duplex): void => {
    from.pipe(to);
    from.on("error", close);
    from.once("end", () => {
      timer ??= setTimeout(close, endGrace);
    });
    from.once("close", () => {
      open -= 1;
      if (open === 0) clearTimeout(timer);
      // After its end the last bytes are still on their way; what the other side says now is read for nobody.
      if (from.readableEnded) to.resume();
      else close();
    });
  };
  carry(one, other);
  carry(other, one);
}
