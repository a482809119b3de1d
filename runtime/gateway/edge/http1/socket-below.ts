import type { Socket } from "node:net";

/** The TCP connection that carries each TLS connection of a server, which Node.js does not expose. */
const carriers = new WeakMap<Socket, Socket>();

/** Notes which TCP connection carries a TLS connection. */
export function linkBelow(tlsSocket: Socket, carrier: Socket): void {
  carriers.set(tlsSocket, carrier);
}

/** The addresses of both ends, by which a TLS socket and the TCP connection below it are known as one. */
export function socketNames({ localAddress, localPort, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${localPort} ${remoteAddress} ${remotePort}`;
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
