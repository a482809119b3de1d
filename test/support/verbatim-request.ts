import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";

/** The exact request; `fetch` would normalise target and headers. */
export interface VerbatimRequest {
  readonly method?: string;
  /** As sent over the wire. */
  readonly target: string;
  /** Flat: name, value, name, value; `Host` and the length are added if they are missing. */
  readonly headers?: readonly string[];
  readonly body?: string | Uint8Array;
}

/** Sends one request to a port of this machine on a new connection, and reads the complete response. */
export async function sendVerbatim(port: number, sent: VerbatimRequest): Promise<Response> {
  const { method = "GET", target, headers = [], body } = sent;
  const names = new Set(headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()));
  const added = [
    ...(names.has("host") ? [] : ["Host", `127.0.0.1:${port}`]),
    ...(body === undefined || names.has("content-length") || names.has("transfer-encoding")
      ? []
      : ["Content-Length", String(Buffer.byteLength(body))]),
    "Connection",
    "close",
  ];
  const sending = request({
    port,
    host: "127.0.0.1",
    method,
    path: target,
    agent: false,
    headers: [...headers, ...added],
  });
  // A response may arrive, and the connection end, before the whole body is sent.
  sending.on("error", () => {});
  sending.end(body);
  const [response]: IncomingMessage[] = await once(sending, "response", { signal: AbortSignal.timeout(15_000) });
  if (response === undefined) throw new Error("no answer came");
  const bytes = await buffer(response);
  const { statusCode = 0, rawHeaders } = response;
  const pairs = rawHeaders.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""]] : [],
  );
  return new Response(bytes.length === 0 ? null : bytes, { status: statusCode, headers: pairs });
}
