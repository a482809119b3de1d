import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const longest = 100;
const between = 250;
/** How soon a browser that lost its connection comes back, milliseconds. */
const comeBackAfter = 1_000;

/**
 * Server-sent events for an `EventSource`: one for each number from `?from=` down to 0. Each has an id; a client that
 * comes back says in `Last-Event-ID` which was its last, and gets those after it.
 */
async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const from = Number(new URL(request.url ?? "/", "http://localhost").searchParams.get("from") ?? 10);
  const seen = Number(request.headers["last-event-id"] ?? 0);
  if (![from, seen].every((number) => Number.isSafeInteger(number) && number >= 0 && number <= longest + 1)) {
    response.writeHead(400, { "Content-Type": "text/plain" }).end(`GET ?from=10, or any number to ${longest}\n`);
    return;
  }
  if (seen > from) {
    // The only status after which an EventSource does not come back.
    response.writeHead(204).end();
    return;
  }
  const left = new AbortController();
  response.on("close", () => left.abort());
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  response.write(`retry: ${comeBackAfter}\n`);
  for (let number = from - seen; number >= 0; number -= 1) {
    response.write(`id: ${from - number + 1}\nevent: ${number === 0 ? "end" : "tick"}\ndata: ${number}\n\n`);
    if (number > 0) await sleep(between, undefined, { signal: left.signal });
  }
  response.end();
}

const server = createServer((request, response) => {
  reply(request, response).catch((err: unknown) => {
    // Whoever asked has left.
    if (response.closed) return;
    console.error(err);
    response.destroy();
  });
});
server.listen(Number(process.env["PORT"]), "127.0.0.1");
process.on("SIGTERM", () => server.close());
