// Clients in a process of their own: each opens a connection, sends one GET and keeps the connection. Arguments: port, path
// and how many. When each has its answer, or none can come, it prints how many there were of each status as JSON; the
// connections stay until it is ended.
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

const [port = "", path = "/", count = "1"] = process.argv.slice(2);
/** Fewer than a listener's queue holds. */
const openingAtOnce = 100;
const longest = 90_000;

const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
const statuses: Record<string, number> = {};
const answers: Promise<void>[] = [];
let left = Number(count);

async function openNext(): Promise<void> {
  while (left-- > 0) {
    const socket = connect(Number(port), "127.0.0.1");
    const { promise, resolve } = Promise.withResolvers<string>();
    // An answer this small comes in one piece.
    socket.once("data", (chunk: Buffer) => resolve(chunk.toString("latin1", 9, 12)));
    socket.on("error", (err) => resolve(err.message));
    socket.once("close", () => resolve("closed"));
    answers.push(promise.then((status) => void (statuses[status] = (statuses[status] ?? 0) + 1)));
    await once(socket, "connect").catch(() => {});
    socket.write(request);
  }
}

process.on("SIGTERM", () => process.exit(0));
await Promise.all(Array.from({ length: openingAtOnce }, openNext));
await Promise.race([Promise.all(answers), pause(longest)]);
process.stdout.write(`${JSON.stringify(statuses)}\n`);
