import type { HttpConnection } from "./client-error.ts";

/** Nothing came or went for a while: cuts a client that does not read what waits for it, and an idle connection. */
export function cutSlowReader(socket: HttpConnection & { readonly bytesWritten: number }): void {
  const idle = (socket._httpMessage ?? null) === null && socket.bytesWritten > 0;
  if (idle || socket.writableLength > 0) socket.destroy();
}
