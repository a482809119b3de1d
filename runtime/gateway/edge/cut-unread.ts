import type { ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";

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
