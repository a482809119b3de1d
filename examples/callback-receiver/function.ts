import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

interface Callback {
  readonly callId: string;
  readonly functionName: string;
  readonly status: number;
  readonly durationSeconds: number;
  readonly retries: number;
  readonly body: string;
}

const kept = 100;
const longestWait = 20_000;
const callbacks: Callback[] = [];
const arrivals = new EventEmitter();

/** Callbacks may come more than once: the call id tells. */
async function receive(request: IncomingMessage): Promise<void> {
  const header = (name: string) => String(request.headers[name] ?? "");
  const callback: Callback = {
    callId: header("x-call-id"),
    functionName: header("x-function-name"),
    status: Number(header("x-function-status")),
    durationSeconds: Number(header("x-duration-seconds")),
    retries: Number(header("x-retry")),
    body: await text(request),
  };
  if (callbacks.some(({ callId }) => callId === callback.callId)) return;
  callbacks.push(callback);
  callbacks.splice(0, callbacks.length - kept);
  console.log(`callback of ${callback.functionName}, call ${callback.callId}: ${callback.status}`);
  arrivals.emit(callback.callId);
}

/** The callback of one call, waited for if it has not come yet. */
async function find(id: string): Promise<Callback | undefined> {
  const come = () => callbacks.find(({ callId }) => callId === id);
  if (come() === undefined)
    await once(arrivals, id, { signal: AbortSignal.timeout(longestWait) }).catch(() => undefined);
  return come();
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === "POST") {
    await receive(request);
    response.writeHead(204).end();
    return;
  }
  const id = (request.url ?? "/").split(/[/?]/)[1] ?? "";
  const found = id === "" ? callbacks : await find(id);
  if (found === undefined) {
    response.writeHead(404, { "Content-Type": "text/plain" }).end("No callback of this call came.\n");
    return;
  }
  response.writeHead(200, { "Content-Type": "application/json" }).end(`${JSON.stringify(found, null, 2)}\n`);
}

const server = createServer((request, response) => {
  answer(request, response).catch((err: unknown) => {
    console.error(err);
    response.destroy();
  });
});
server.listen(Number(process.env["PORT"]), "127.0.0.1");
process.on("SIGTERM", () => server.close());
