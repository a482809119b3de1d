import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { usageError } from "../cli-error.ts";
import { errorMessage } from "../error-message.ts";

/** Where a browser comes back to after a sign-in (RFC 8252, section 7.3). */
export interface LoopbackRedirect {
  readonly uri: string;
  /** The address that the browser comes back with, once it has the redirect's state; others are refused. */
  arrival(signal: AbortSignal): Promise<URL>;
  close(): Promise<void>;
}

const path = "/callback";
/** Bounds how long a connection may be without a request, in milliseconds. */
const limits = { headersTimeout: 10_000, requestTimeout: 10_000, connectionsCheckingInterval: 1_000 } as const;

/**
 * Listens on this machine alone.
 * @throws CliError when `port` is in use; 0 is any free one
 */
export async function openLoopbackRedirect(port: number, state: string): Promise<LoopbackRedirect> {
  const arrivals = new EventEmitter();
  const server = createServer(limits, (request, response) => {
    const url = visitedUrl(request, uri);
    if (url?.searchParams.get("state") !== state) return reply(response, 404, "This is no sign-in that was begun.");
    // The command may end soon after, and this with it.
    response.once("close", () => arrivals.emit("arrival", url));
    reply(response, 200, "You can close this page: the command weir goes on.");
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening").catch((cause: unknown) => {
    throw usageError(`Cannot use --callback-port ${port}: ${errorMessage(cause)}`);
  });
  const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  return {
    uri,
    arrival: async (signal) => {
      const [url] = (await once(arrivals, "arrival", { signal })) as [URL];
      return url;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** The address of a visit, if it is one of the redirect: another name could be a page that uses this browser. */
function visitedUrl({ method, url = "", headers }: IncomingMessage, uri: string): URL | undefined {
  const visited = URL.parse(url, uri);
  const { host, pathname } = new URL(uri);
  return method === "GET" && headers.host === host && visited?.host === host && visited.pathname === pathname
    ? visited
    : undefined;
}

function reply(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'",
    "cache-control": "no-store",
    connection: "close",
  });
  response.end(`<!doctype html><title>weir</title><p>${sentence}</p>\n`);
}
