import type { Socket } from "node:net";

/** How a client that ended its side is followed. */
export interface EndedClientParts {
  /** Sends it something, if there is something to send that changes nothing for it. */
  readonly probe: () => void;
  /** Milliseconds until `probe` is first called; each further time it takes twice as long. */
  readonly firstProbe: number;
}

/** Milliseconds after which the kernel asks that of the client whether the connection still exists, and between two times. */
const keepAliveProbe = 10_000;
/** Milliseconds between two looks at what the kernel knows: the longer it lasts, the fewer. */
const pace = { shortest: 250, longest: 2_000 } as const;

/**
 * Notices when a client that ended its side leaves while a reply is owed to it: then the socket is destroyed. Nothing can be
 * read of it any more, so only a write shows that: an empty one, which sends nothing, once the kernel knows that the
 * connection is gone. A client that closed both sides looks like one that still reads until it is sent something, which
 * its kernel refuses.
 */
export function followEndedClient(socket: Socket, { probe, firstProbe }: EndedClientParts): void {
  socket.setKeepAlive(true, keepAliveProbe, keepAliveProbe);
  const began = performance.now();
  let nextProbe = firstProbe;
  let timer: NodeJS.Timeout;
  const look = (): void => {
    const elapsed = performance.now() - began;
    timer = setTimeout(look, Math.min(Math.max(elapsed / 4, pace.shortest), pace.longest)).unref();
    if (socket.writableEnded || socket.writableLength > 0) return;
    if (elapsed >= nextProbe) {
      nextProbe *= 2;
      probe();
    }
    socket.write("");
  };
  look();
  socket.once("close", () => clearTimeout(timer));
}
