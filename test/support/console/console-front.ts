import { once } from "node:events";
import { createServer, request as sendRequest, type IncomingMessage, type ServerResponse } from "node:http";

/** Replies in the gateway's place. */
export type FrontReply = (request: IncomingMessage, response: ServerResponse) => void;

/** A proxy in front of a console, which shows pages what a gateway would have to be broken or full for. */
export interface ConsoleFront extends AsyncDisposable {
  readonly origin: string;
  /**
   * From now on requests whose method and path with query match get this reply; a later rule goes before earlier ones.
   * Returns what ends it.
   */
  replace(pattern: RegExp, reply: FrontReply): () => void;
  /** Ends all rules. */
  restore(): void;
  /** Cuts all connections of pages, streams too. */
  cut(): void;
  /** `METHOD path?query` of all requests so far. */
  readonly seen: readonly string[];
  /** The same of those whose replies go on. */
  readonly open: readonly string[];
}

/** Listens on `port`, whose origin must be one of the console's at `behind`. */
export async function openConsoleFront(port: number, behind: string): Promise<ConsoleFront> {
  const rules: { readonly pattern: RegExp; readonly reply: FrontReply }[] = [];
  const seen: string[] = [];
  const open: string[] = [];
  const server = createServer((request, response) => {
    const asked = `${request.method} ${request.url}`;
    seen.push(asked);
    open.push(asked);
    response.once("close", () => void open.splice(open.indexOf(asked), 1));
    const rule = rules.findLast(({ pattern }) => pattern.test(asked));
    if (rule === undefined) forward(request, response, behind);
    else rule.reply(request, response);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${port}`,
    seen,
    open,
    replace(pattern, reply) {
      const rule = { pattern, reply };
      rules.push(rule);
      return () => void rules.splice(rules.indexOf(rule) >>> 0, 1);
    },
    restore: () => void rules.splice(0),
    cut: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** Replies with JSON, and the headers that the console has on everything. */
export function jsonReply(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): FrontReply {
  const type = status >= 400 ? "application/problem+json" : "application/json";
  return (request, response) => {
    request.resume();
    response.writeHead(status, { "content-type": type, "cache-control": "no-store", ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Replies as the gateway does when it refuses something. */
export function problemReply(
  status: number,
  code: string,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): FrontReply {
  return jsonReply({ type: `urn:weir:error:${code}`, title: "", status, detail, instance: "/", code }, status, headers);
}

/** Never replies. */
export const noReply: FrontReply = (request) => void request.resume();

/** An event as a stream has it. */
export function writtenEvent([event, data]: readonly [event: string, data: unknown]): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Replies with events, and leaves the stream open. */
export function streamReply(events: readonly (readonly [event: string, data: unknown])[]): FrontReply {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    for (const each of events) response.write(writtenEvent(each));
  };
}

function forward(request: IncomingMessage, response: ServerResponse, behind: string): void {
  const upstream = sendRequest(`${behind}${request.url ?? "/"}`, {
    method: request.method,
    headers: request.headers,
    setHost: false,
    agent: false,
  });
  upstream.on("response", (reply) => {
    response.writeHead(reply.statusCode ?? 502, reply.rawHeaders);
    response.flushHeaders();
    reply.pipe(response);
    reply.on("error", () => response.destroy());
  });
  // Pages learn that the gateway is away as they would without a proxy.
  upstream.on("error", () => response.destroy());
  response.on("close", () => upstream.destroy());
  request.pipe(upstream);
}
