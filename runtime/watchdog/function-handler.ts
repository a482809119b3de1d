import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

import type { PublicSentence } from "../api/public-sentence.ts";
import type { Failure } from "./parent.ts";

/** Serves the requests of one function. */
export interface FunctionHandler {
  /** Replies to the request, or aborts its connection when the response cannot be completed. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Whether it gives the 100 that a caller waits for before it sends its body; absent = the server does. */
  readonly givesContinue?: boolean;
  /** Takes over the connection of a request for another protocol; absent = such requests are handled as any other. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Takes over a connection of HTTP/2 without TLS that began with `head`; absent = it is refused. */
  tunnel?(socket: Duplex, head: Buffer): void;
  ready(): Promise<boolean>;
  /** Resolves when the function can take calls for the first time; never if that does not happen. */
  readonly started: Promise<void>;
  /** Resolves when the function can serve no more; never if that cannot happen. */
  readonly ended: Promise<Failure & { readonly code: number }>;
  /** Ends its processes, which get `grace` milliseconds to end by themselves. */
  close(grace: number): Promise<void>;
}

/** Replies with one sentence, which anyone may read, as plain text; if the head was already sent, aborts the connection. */
export function refuse(
  response: ServerResponse,
  status: number,
  sentence: PublicSentence,
  headers: Record<string, string> = {},
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", ...headers }).end(`${String(sentence)}\n`);
}
