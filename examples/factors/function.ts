import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setImmediate as turn } from "node:timers/promises";

/** So many divisions, and others get their turn: readiness probes, calls at the same time. */
const divisionsInOneTurn = 1_000_000;

/** The prime factors of a whole number from 2 on; given up when the signal comes. */
async function factorsOf(number: number, signal: AbortSignal): Promise<number[]> {
  const factors: number[] = [];
  let rest = number;
  let divisions = 0;
  for (let divisor = 2; divisor * divisor <= rest; divisor += divisor === 2 ? 1 : 2) {
    for (; rest % divisor === 0; rest /= divisor) factors.push(divisor);
    if (++divisions % divisionsInOneTurn === 0) await turn(undefined, { signal });
  }
  return rest === 1 ? factors : [...factors, rest];
}

/** One event for each number, sent as soon as its factors are found. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const numbers = (await text(request)).split(/\s+/).filter(Boolean).map(Number);
  if (numbers.length === 0 || !numbers.every((number) => Number.isSafeInteger(number) && number > 1)) {
    const help = `POST whole numbers from 2 to ${Number.MAX_SAFE_INTEGER}, one a line\n`;
    response.writeHead(400, { "Content-Type": "text/plain" }).end(help);
    return;
  }
  const left = new AbortController();
  response.on("close", () => left.abort());
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  response.flushHeaders();
  for (const [index, number] of numbers.entries()) {
    const factors = await factorsOf(number, left.signal);
    response.write(`id: ${index + 1}\ndata: ${JSON.stringify({ number, factors })}\n\n`);
  }
  response.end();
}

const server = createServer((request, response) => {
  answer(request, response).catch((err: unknown) => {
    // Whoever asked has left.
    if (response.closed) return;
    console.error(err);
    response.destroy();
  });
});
server.listen(Number(process.env["PORT"]), "127.0.0.1");
process.on("SIGTERM", () => server.close());
