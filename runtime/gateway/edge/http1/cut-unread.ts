import type { ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";

/** What requests have for a connection, where it was cut because its client did not read. */
const unread = new WeakSet<Socket>();

/** Cuts a connection, or the stream of a request of HTTP/2, whose client does not read. */
export function destroyUnread(socket: Socket, cut = (): void => void socket.destroy()): void {
  unread.add(socket);
  cut();
}

/** Whether it was cut because its client did not read. */
export function wasUnread(socket: Socket): boolean {
  return unread.has(socket);
}

/**
 * Calls `cut` each time that `idle` milliseconds passed in which nothing came and the kernel, or the client's window, took
 * nothing of what waits to be sent: its client does not read. Time in which nothing waits is none of its business, and does
 * not end the watch, as a callback given to `setTimeout` would: Node.js calls that once.
 */
export function cutUnread(connection: Socket | ServerHttp2Stream, idle: number, cut: () => void): void {
  connection.setTimeout(idle);
  connection.on("timeout", () => {
    if (connection.writableLength > 0) cut();
  });
}
