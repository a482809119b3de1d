import type { Socket } from "node:net";
import type { Server } from "node:tls";

/** The TCP connection that each TLS connection of a server is carried by, from the end of the handshake on. */
const carriers = new WeakMap<Socket, Socket>();

/**
 * Keeps for each connection of a TLS server the TCP connection below it, which Node.js does not give away. `during` tells it
 * while the handshake goes on and when it failed.
 */
export function trackBelow(listener: Server): (during: Socket) => Socket | undefined {
  const shakingHands = new Map<string, Socket>();
  listener.on("connection", (socket: Socket) => {
    const peer = peerOf(socket);
    shakingHands.set(peer, socket);
    socket.once("close", () => {
      if (shakingHands.get(peer) === socket) shakingHands.delete(peer);
    });
  });
  listener.on("secureConnection", (socket) => {
    const peer = peerOf(socket);
    const carrier = shakingHands.get(peer);
    if (carrier !== undefined) carriers.set(socket, carrier);
    shakingHands.delete(peer);
  });
  return (during) => shakingHands.get(peerOf(during));
}

/**
 * Closes a connection so that its peer sees an error and not an end: by a reset, over TLS without the alert that says that
 * all was sent.
 */
export function resetConnection(socket: Socket): void {
  const carrier = carriers.get(socket) ?? socket;
  // What was ended already cannot be reset any more.
  if (socket.destroyed || socket.writableEnded || carrier.destroyed) socket.destroy();
  else carrier.resetAndDestroy();
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ""} ${remotePort ?? ""}`;
}
