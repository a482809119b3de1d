import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";

import { tokenKey, type TokenKey } from "./token-keys.ts";

/** A token issuer on a real port of 127.0.0.1: its description and its keys, or whatever a test makes of them. */
export interface TokenIssuer extends AsyncDisposable {
  /** Its `iss`. */
  readonly url: string;
  readonly port: number;
  /** The key that it signs with; may be set to another. */
  key: TokenKey;
  /** What it publishes as keys; may be set. */
  keys: unknown[];
  /** Paths of all requests so far, in order. */
  readonly paths: string[];
  /** Headers of the last request. */
  readonly lastHeaders: Readonly<Record<string, unknown>>;
  /** Replaces the reply to a path; undefined brings the usual one back. */
  replace(path: string, reply: RequestListener | undefined): void;
}

export const issuerPaths = {
  description: "/.well-known/openid-configuration",
  keys: "/keys",
  cluster: "/openid/v1/jwks",
} as const;

/** `tls`: certificate and key of an issuer with https. */
export async function openTokenIssuer(tls?: { readonly cert: Buffer; readonly key: Buffer }): Promise<TokenIssuer> {
  const key = await tokenKey("ES256", "first");
  const paths: string[] = [];
  let lastHeaders: Readonly<Record<string, unknown>> = {};
  const replaced = new Map<string, RequestListener>();
  const json =
    (value: unknown): RequestListener =>
    (_request, response) =>
      void response.setHeader("content-type", "application/json").end(JSON.stringify(value));
  const listener: RequestListener = (request, response) => {
    const path = request.url ?? "";
    paths.push(path);
    lastHeaders = request.headers;
    const usual = new Map([
      [issuerPaths.description, json({ issuer: opened.url, jwks_uri: `${opened.url}${issuerPaths.keys}` })],
      [issuerPaths.keys, json({ keys: opened.keys })],
      [issuerPaths.cluster, json({ keys: opened.keys })],
    ] as [string, RequestListener][]);
    const reply = replaced.get(path) ?? usual.get(path);
    if (reply === undefined) response.writeHead(404).end();
    else reply(request, response);
  };
  const server: Server | TlsServer = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const opened: TokenIssuer = {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    port,
    key,
    keys: [key.jwk],
    paths,
    get lastHeaders() {
      return lastHeaders;
    },
    replace: (path, reply) => {
      if (reply === undefined) replaced.delete(path);
      else replaced.set(path, reply);
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return opened;
}
