import { once } from "node:events";
import { chmod, mkdir, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { join } from "node:path";

import {
  decodeHistoryValue,
  encodeHistoryValue,
  historyMetricsPath,
  historyProgressPath,
  historyRequestMax,
  historySocket,
  parseHistoryPath,
} from "../../api/schemas/history/history-wire.ts";
import type { HistoryProgress } from "../../core/ports/call-history.ts";
import { headLimits, replyToEnded } from "../../process/sockets/http-server-rules.ts";
import type { HistoryMetrics } from "../history-metrics.ts";
import { answeredHosts, isLoopbackListener, unansweredHost } from "../../settings/answered-hosts.ts";
import { ApiKey } from "./api-key.ts";
import { answerOperation, BadArgument, type OperationParts } from "./answer-operation.ts";
import { readRequestText } from "./read-request-text.ts";

export interface HistoryApiParts extends OperationParts {
  readonly progress: () => Promise<HistoryProgress>;
  readonly metrics: Pick<HistoryMetrics, "reads" | "text">;
  readonly place: HistoryApiPlace;
  /** Milliseconds for a head, from the start of its connection for the first one. */
  readonly headersTimeout: number;
}

/** A socket in a directory, or a port for requests with the key. */
export type HistoryApiPlace =
  | { readonly directory: string }
  | {
      readonly host: string;
      readonly port: number;
      readonly keyDirectory: string;
      /** Names that it answers to on loopback beside those of this machine; none when absent. */
      readonly allowedHosts?: readonly string[];
    };

export interface HistoryApi {
  /** Path of the socket, or the port. */
  readonly address: string | number;
  close(): Promise<void>;
}

/** Requests at the same time, of all gateways; each further one is refused. */
const mostRequests = 64;
/** Milliseconds for a whole request; a gateway waits 2 s for its reply. */
const requestTimeout = 10_000;

interface Reply {
  readonly status: number;
  readonly body: string;
}

/**
 * Serves the history to gateways.
 * @throws Error when the key is missing, or nobody can listen there
 */
export async function openHistoryApi(parts: HistoryApiParts): Promise<HistoryApi> {
  const key = "port" in parts.place ? new ApiKey(parts.place.keyDirectory) : undefined;
  await key?.read();
  const { host: place = "", allowedHosts = [] } = "port" in parts.place ? parts.place : {};
  const answers = isLoopbackListener(place) ? answeredHosts(allowedHosts) : undefined;
  let inFlight = 0;
  const { headersTimeout } = parts;
  const limits = headLimits(headersTimeout, Math.max(requestTimeout, headersTimeout));
  const server = createServer(limits, (request, response) => {
    inFlight += 1;
    const { host = "" } = request.headers;
    (answers?.(host) === false
      ? Promise.resolve({ status: 421, body: unansweredHost(JSON.stringify(host)) })
      : replyTo(request, parts, key, inFlight)
    )
      .catch((err: unknown) => ({ status: 503, body: err instanceof Error ? err.message : String(err) }))
      .then(({ status, body }) => {
        inFlight -= 1;
        const type = status === 200 ? "application/json" : "text/plain; charset=utf-8";
        response.writeHead(status, { "content-type": type }).end(body);
      })
      .catch(() => response.destroy());
  });
  const address = await listen(replyToEnded(server), parts.place);
  return {
    address,
    close: async () => {
      server.close();
      server.closeAllConnections();
      if (typeof address === "string") await rm(address, { force: true });
    },
  };
}

async function listen(server: Server, place: HistoryApiPlace): Promise<string | number> {
  if ("port" in place) {
    server.listen(place.port, place.host);
    await once(server, "listening");
    const bound = server.address();
    return typeof bound === "object" && bound !== null ? bound.port : place.port;
  }
  await mkdir(place.directory, { recursive: true, mode: 0o700 });
  const path = join(place.directory, historySocket[1]);
  // One that a killed process left behind; there is one process for a directory.
  await rm(path, { force: true });
  server.listen(path);
  await once(server, "listening");
  await chmod(path, 0o600);
  return path;
}

async function replyTo(
  request: IncomingMessage,
  parts: HistoryApiParts,
  key: ApiKey | undefined,
  inFlight: number,
): Promise<Reply> {
  const { method = "", url: path = "" } = request;
  if (inFlight > mostRequests) return { status: 503, body: `${mostRequests} requests wait for it already` };
  if (key !== undefined && !(await key.admits(request.headers.authorization)))
    return { status: 401, body: "its key is another one" };
  if (method === "GET" && path === historyProgressPath) return ok(encodeHistoryValue(await parts.progress()));
  if (method === "GET" && path === historyMetricsPath) return ok(await parts.metrics.text());
  const operation = method === "POST" ? parseHistoryPath(path) : undefined;
  if (operation === undefined) return { status: 404, body: `Cannot ${method} "${path}": it does not exist` };
  const body = await readRequestText(request, historyRequestMax);
  if (body === undefined) return { status: 413, body: `the request is over the limit of ${historyRequestMax} bytes` };
  const end = parts.metrics.reads.startTimer({ route: operation });
  try {
    return ok(encodeHistoryValue(await answerOperation(parts, operation, decodeHistoryValue(body))));
  } catch (err) {
    if (err instanceof BadArgument || err instanceof SyntaxError) return { status: 400, body: err.message };
    throw err;
  } finally {
    end();
  }
}

function ok(body: string): Reply {
  return { status: 200, body };
}
