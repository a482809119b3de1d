import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";

import { eventually } from "./eventually.ts";
import type { CallbackReceived, LedgerWriter } from "./ledger.ts";
import { preciseNow } from "./precise-now.ts";

/** What the sink does with a callback after recording it. */
export type SinkAnswer =
  | { readonly kind: "status"; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** Never responds. */
  | { readonly kind: "hang" }
  /** Resets the connection. */
  | { readonly kind: "reset" };

export interface ReceivedCallback extends CallbackReceived {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly body: Buffer;
}

/** A real HTTP server that records the callbacks it receives. */
export interface CallbackSink extends AsyncDisposable {
  readonly port: number;
  /** The `X-Callback-Url` to send. */
  readonly url: string;
  /** In the order of arrival. */
  readonly received: readonly ReceivedCallback[];
  /** For all further callbacks; the actions given to `answerNext` come first. */
  answerAlways(action: SinkAnswer): void;
  /** For the next callbacks, one each. */
  answerNext(...actions: readonly SinkAnswer[]): void;
  /** The callbacks of one call. */
  of(id: string): readonly ReceivedCallback[];
  /** The first callback of `id`, waiting at most `within` milliseconds (45 000). */
  waitFor(id: string, within?: number): Promise<ReceivedCallback>;
  close(): Promise<void>;
}

/** Responds 200 by default. Port 0 (the default) = any free port; with a fixed one a sink can be reopened. */
export async function openCallbackSink(
  options: { readonly port?: number; readonly ledger?: LedgerWriter } = {},
): Promise<CallbackSink> {
  const received: ReceivedCallback[] = [];
  const next: SinkAnswer[] = [];
  let always: SinkAnswer = { kind: "status", status: 200 };

  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    const action = next.shift() ?? always;
    const line = ledgerLine(request, body, action);
    options.ledger?.append(line);
    received.push({ ...line, method: request.method ?? "", target: request.url ?? "", body });
    switch (action.kind) {
      case "status":
        response.writeHead(action.status, action.headers).end();
        return;
      case "hang":
        return;
      case "reset":
        request.socket.resetAndDestroy();
        return;
      default:
        action satisfies never;
    }
  };
  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot open callback sink: no address given");

  const of = (id: string) => received.filter((callback) => callback.id === id);
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  return {
    port: address.port,
    url: `http://127.0.0.1:${address.port}/callback`,
    received,
    answerAlways: (action) => {
      always = action;
    },
    answerNext: (...actions) => void next.push(...actions),
    of,
    waitFor: (id, within) => eventually(() => of(id)[0], { within, what: `a callback of call ${id}` }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function ledgerLine(request: IncomingMessage, body: Buffer, action: SinkAnswer): CallbackReceived {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  return {
    kind: "callback",
    id: String(request.headers["x-call-id"] ?? ""),
    at: preciseNow(),
    headers: Object.fromEntries(headers),
    bodyHash: createHash("sha256").update(body).digest("hex"),
    bodySize: body.byteLength,
    ...(action.kind === "status" ? { answered: action.status } : {}),
  };
}
