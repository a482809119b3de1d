// Clients in a separate process: each opens a connection, sends one GET and keeps the connection. Arguments: port, path
// and number of clients. When each client has its response, an error or a timeout, the process prints the number of
// clients by status as JSON. The connections stay open until the process is ended.
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

const [port = "", path = "/", count = "1"] = process.argv.slice(2);
/** Below the length of a listener's queue. */
const concurrency = 100;
const timeout = 90_000;

const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
const statuses: Record<string, number> = {};
const responses: Promise<void>[] = [];
let left = Number(count);

async function openNext(): Promise<void> {
  while (left-- > 0) {
    const socket = connect(Number(port), "127.0.0.1");
    const { promise, resolve } = Promise.withResolvers<string>();
    // A response this small comes in one chunk.
    socket.once("data", (chunk: Buffer) => resolve(chunk.toString("latin1", 9, 12)));
    socket.on("error", (err) => resolve(err.message));
    socket.once("close", () => resolve("closed"));
    responses.push(promise.then((status) => void (statuses[status] = (statuses[status] ?? 0) + 1)));
    await once(socket, "connect").catch(() => {});
    socket.write(request);
  }
}

process.on("SIGTERM", () => process.exit(0));
await Promise.all(Array.from({ length: concurrency }, openNext));
await Promise.race([Promise.all(responses), pause(timeout)]);
process.stdout.write(`${JSON.stringify(statuses)}\n`);
