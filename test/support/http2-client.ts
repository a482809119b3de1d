import { once } from "node:events";
import {
  connect,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";

/** A complete response over HTTP/2. */
export interface Http2Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: string;
}

/** A client over one connection, which `close` destroys. */
export interface Http2Client {
  readonly session: ClientHttp2Session;
  /** Resolves with the complete response; rejects if the stream is reset. */
  ask(head: OutgoingHttpHeaders | readonly string[], body?: string | Uint8Array): Promise<Http2Answer>;
  close(): void;
}

/** Connects to `https://127.0.0.1:<port>`, trusting `cert`. */
export async function openHttp2Client(port: number, cert: Buffer): Promise<Http2Client> {
  // A variable, as the types of clients do not know `strictSingleValueFields` yet.
  // node counts unsent data of streams that the server reset, and ends the session at 10 MB by default.
  const options = { ca: cert, strictSingleValueFields: false, maxSessionMemory: 100 };
  const session = connect(`https://localhost:${port}`, options);
  session.on("error", () => {});
  await once(session, "connect");
  return {
    session,
    ask: (head, body) => {
      const stream = session.request(head, { endStream: body === undefined });
      if (body !== undefined) stream.end(body);
      return answerOf(stream);
    },
    close: () => session.destroy(),
  };
}

/** The complete response; rejects if the stream is reset. */
export function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    let headers: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    let ended = false;
    stream.on("response", (list) => (headers = list));
    stream.on("trailers", (list) => (trailers = list));
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => (ended = true));
    stream.on("error", reject);
    stream.on("close", () => {
      const status = Number(headers[":status"] ?? 0);
      if (!ended || status === 0) reject(new Error(`reset with code ${stream.rstCode ?? 0}`));
      else resolve({ status, headers, trailers, body: Buffer.concat(chunks).toString() });
    });
  });
}
