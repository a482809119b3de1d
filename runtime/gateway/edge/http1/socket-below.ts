import type { Socket } from "node:net";
import type { Server } from "node:tls";

/** The TCP connection that carries each TLS connection of a server, from the end of its handshake on. */
const carriers = new WeakMap<Socket, Socket>();

/**
 * Tracks the TCP connection below each connection of a TLS server, which Node.js does not expose. The returned function
 * finds it during the handshake and after a failed one.
 */
export function trackBelow(listener: Server): (tlsSocket: Socket) => Socket | undefined {
  const handshakes = new Map<string, Socket>();
  listener.on("connection", (socket: Socket) => {
    const peer = peerOf(socket);
    handshakes.set(peer, socket);
    socket.once("close", () => {
      if (handshakes.get(peer) === socket) handshakes.delete(peer);
    });
  });
  listener.on("secureConnection", (socket) => {
    const peer = peerOf(socket);
    const carrier = handshakes.get(peer);
    if (carrier !== undefined) carriers.set(socket, carrier);
    handshakes.delete(peer);
  });
  return (tlsSocket) => handshakes.get(peerOf(tlsSocket));
}

/**
 * Closes a connection so that its peer sees an error and not an end: by a TCP reset, over TLS without the
 * `close_notify` alert.
 */
export function resetConnection(socket: Socket): void {
  const carrier = carriers.get(socket) ?? socket;
  // A connection that was ended already cannot be reset any more.
  if (socket.destroyed || socket.writableEnded || carrier.destroyed) socket.destroy();
  else carrier.resetAndDestroy();
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ""} ${remotePort ?? ""}`;
}
