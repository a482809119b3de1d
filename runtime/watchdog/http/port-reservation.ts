import { createServer } from "node:net";

/**
 * Keeps an address for this process until it ends, among the watchdogs of this network namespace; false when another
 * one has it. Until its own process listens, a watchdog cannot tell whose process accepts connections there: without
 * this, two that start at once with one port would both send their calls to the process that listens first.
 *
 * An abstract Unix socket (unix(7)) stands for the address: it is seen where the port is, and gone with the process.
 * Other systems than Linux have none: true there.
 */
export function reservePort({ host, port }: { readonly host: string; readonly port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.on("error", (err: NodeJS.ErrnoException) => resolve(err.code !== "EADDRINUSE"));
    server.listen(`\0weir-watchdog ${host}:${port}`, () => resolve(true)).unref();
  });
}
