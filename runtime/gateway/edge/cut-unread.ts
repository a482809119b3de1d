import type { ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";

/**
 * Calls `cut` each time `idle` milliseconds have passed in which no byte arrived and neither the kernel nor the
 * client's window accepted any of the bytes that wait to be sent: the client does not read. Time in which none wait is
 * ignored and does not end the watch. A callback given to `setTimeout` would end it, as Node.js calls that once.
 */
export function cutUnread(connection: Socket | ServerHttp2Stream, idle: number, cut: () => void): void {
  connection.setTimeout(idle);
  connection.on("timeout", () => {
    if (connection.writableLength > 0) cut();
  });
}
