import { request as httpRequest, type IncomingMessage } from "node:http";
import { once } from "node:events";
import { text } from "node:stream/consumers";

export interface FromOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request, with path and query unchanged, on a new connection from `address`, any of 127.0.0.0/8. */
export async function requestFrom(
  address: string,
  url: string,
  options: FromOptions = {},
): Promise<{ readonly status: number; readonly body: string }> {
  const { origin, hostname, port } = new URL(url);
  const path = url.slice(origin.length);
  const request = httpRequest({ ...options, hostname, port, path, localAddress: address, agent: false });
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: await text(response) };
}
