import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { CliError, usageError } from "../cli-error.ts";
import { errorMessage } from "../error-message.ts";
import { exitCode } from "../exit-code.ts";

/** Where a browser comes back to after a sign-in (RFC 8252, section 7.3). */
export interface LoopbackRedirect {
  readonly uri: string;
  /**
   * The address that the browser came back with, once it has this `state`; others are refused.
   * @throws CliError when nobody comes within `timeout` milliseconds
   */
  arrival(state: string, timeout: number, signal: AbortSignal): Promise<URL>;
  close(): Promise<void>;
}

const path = "/callback";

/**
 * Listens on this machine alone.
 * @throws CliError when `port` is in use; 0 is any free one
 */
export async function openLoopbackRedirect(port: number): Promise<LoopbackRedirect> {
  const visits: { readonly state: string; readonly arrive: (url: URL) => void }[] = [];
  const server = createServer((request, response) => {
    const url = visitedUrl(request, uri);
    const visit = visits.find(({ state }) => url?.searchParams.get("state") === state);
    if (url === undefined || visit === undefined) return reply(response, 404, "This is no sign-in that was begun.");
    // The command may end soon after, and this with it.
    response.once("close", () => visit.arrive(url));
    reply(response, 200, "You can close this page: the command weir goes on.");
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening").catch((cause: unknown) => {
    throw usageError(`Cannot wait for the browser on port ${port}: ${errorMessage(cause)}`);
  });
  const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  return {
    uri,
    arrival: (state, timeout, signal) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(tooLate(timeout)), timeout);
        const abort = (): void => reject(new CliError(exitCode.interrupted, ""));
        signal.addEventListener("abort", abort, { once: true });
        visits.push({
          state,
          arrive: (url) => {
            clearTimeout(timer);
            signal.removeEventListener("abort", abort);
            resolve(url);
          },
        });
      }),
    close: async () => {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, "close");
    },
  };
}

/** The error when nobody signs in. */
export function tooLate(timeout: number): CliError {
  return new CliError(exitCode.timeout, `Cannot sign in: nobody did so within ${Math.ceil(timeout / 1_000)} s`);
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
