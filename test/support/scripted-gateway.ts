import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";

/** A request that a scripted gateway got. */
export interface ScriptedRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A gateway that replies, byte for byte, what a test writes. */
export interface ScriptedGateway extends AsyncDisposable {
  /** Without a path. */
  readonly url: string;
  readonly requests: readonly ScriptedRequest[];
}

/** Opens one on a free port; `reply` gets each request once it is read, and its number, counted from 1. */
export async function openScriptedGateway(
  reply: (response: ServerResponse, request: ScriptedRequest, number: number) => void,
): Promise<ScriptedGateway> {
  const requests: ScriptedRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    void text(request).then(
      (body) => {
        const { method = "", url: target = "", headers } = request;
        const got = { method, target, headers, body };
        requests.push(got);
        reply(response, got, requests.length);
      },
      () => {},
    );
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Replies with a whole message; a text is UTF-8, other values are sent as JSON. */
export function replyWith(
  response: ServerResponse,
  status: number,
  body: unknown = "",
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const type = typeof body === "string" ? "text/plain; charset=utf-8" : "application/json";
  response.writeHead(status, { "content-type": type, "content-length": String(bytes.byteLength), ...headers });
  response.end(bytes);
}
