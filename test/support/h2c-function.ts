import { once } from "node:events";
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";

/** A request over HTTP/2 as the function saw it. */
export interface SeenStream {
  /** Flat, pseudo headers included. */
  readonly rawHeaders: readonly string[];
  /** The last value of each header, by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A function that speaks HTTP/2 without TLS, and records its requests. */
export interface H2cFunction {
  /** `host:port`. */
  readonly address: string;
  /** Received request heads, flat. */
  readonly seen: readonly (readonly string[])[];
  /** Complete requests. */
  readonly requests: readonly SeenStream[];
  /** Received trailers, flat. */
  readonly trailers: readonly (readonly string[])[];
  /** Streams aborted before their response was complete. */
  readonly broken: number;
  /** Connections open now. */
  readonly open: number;
  /** Destroys every connection; new ones are accepted. */
  cut(): void;
  close(): Promise<void>;
}

/** Responds to one complete request. */
export type H2cHandler = (stream: ServerHttp2Stream, body: string, seen: SeenStream) => void;

/** Opens a function on a free port. */
export async function openH2cFunction(handler: H2cHandler): Promise<H2cFunction> {
  const seen: string[][] = [];
  const requests: SeenStream[] = [];
  const trailers: string[][] = [];
  const open = new Set<ServerHttp2Session>();
  let broken = 0;
  const serve = (stream: ServerHttp2Stream, _headers: unknown, _flags: number, rawHeaders: string[]): void => {
    seen.push(rawHeaders);
    const chunks: Buffer[] = [];
    stream.on("error", () => {});
    stream.on("aborted", () => (broken += 1));
    stream.on("trailers", (_trailers, _trailerFlags, list) => trailers.push(list));
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => {
      const request = { rawHeaders, headers: mapOf(rawHeaders), body: Buffer.concat(chunks).toString() };
      requests.push(request);
      handler(stream, request.body, request);
    });
  };
  const server = createServer({ strictSingleValueFields: false });
  server.on("sessionError", () => {});
  server.on("session", (session) => {
    open.add(session);
    session.once("close", () => open.delete(session));
    session.on("stream", serve);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const session of open) session.destroy();
  };
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    requests,
    trailers,
    get broken() {
      return broken;
    },
    get open() {
      return open.size;
    },
    cut,
    close: async () => {
      server.close();
      cut();
      await once(server, "close");
    },
  };
}

function mapOf(rawHeaders: readonly string[]): Record<string, string> {
  const map: Record<string, string> = {};
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    map[rawHeaders[index] ?? ""] = rawHeaders[index + 1] ?? "";
  return map;
}
