import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as TcpServer, type AddressInfo, type Socket } from "node:net";
import type { Duplex } from "node:stream";

import { publicly } from "../api/public-sentence.ts";
import { followEndedClient } from "../process/sockets/ended-client.ts";
import { headLimits, replyToEnded } from "../process/sockets/http-server-rules.ts";
import { stopAccepting } from "../process/sockets/stop-accepting.ts";
import { refuse, type FunctionHandler } from "./function-handler.ts";
import { nodeHttp } from "./node-http.ts";

/** How a function is served. */
export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  /** It listens already: takes the place of host and port. */
  readonly server?: Server | undefined;
  readonly handler: FunctionHandler;
  /** Requests at the same time; 0 = no limit. */
  readonly maxInflight: number;
  readonly healthPath: string;
  readonly readyPath: string;
  /** Milliseconds for the head of a request; for the first one of a connection since its start. */
  readonly headersTimeout?: number;
}

/** The HTTP server in front of a function. */
export interface FunctionServer {
  /** 0 when it listens on a socket. */
  readonly port: number;
  /**
   * Turns not ready and accepts no new connections; resolves when no connection is left, or no request is in flight and
   * none came for two seconds, or after `grace` milliseconds.
   */
  drain(grace: number): Promise<void>;
}

const defaultHeadersTimeout = 10_000;
/** Longer than gateways keep idle connections, so that none is closed while a request is on its way; milliseconds. */
const keepAlive = 90_000;
/** Milliseconds until a caller that ended its side is first probed by an interim response; a gateway resets what it cuts. */
const firstProbe = 2_000;
/**
 * Milliseconds in which callers that do not yet know of the stop may still send over their connections. Gateways and
 * queue-workers close theirs when they learn of it, so only other callers delay a stop.
 */
const linger = 2_000;
/**
 * After a stop begins, new connections are accepted until none came for `quietTime` milliseconds: callers may not know
 * of it yet. Those that connect all the time and never learn of it are refused after `longestAccepting`, and early enough
 * that half of the grace is left for the calls that were accepted.
 */
const quietTime = 250;
const longestAccepting = 5_000;
/** How clients begin that have prior knowledge of HTTP/2 (RFC 9113 §3.4). */
const http2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/** Connections that wait until they are accepted: one too many is refused at once by a Unix socket. */
const longestQueue = 4_096;

/** Listens on a Unix socket. Nobody is served there until the server is given to `serveFunction`. */
export async function listenOnSocket(path: string): Promise<Server> {
  const server = createServer().listen({ path, backlog: longestQueue });
  await once(server, "listening");
  return server;
}

function createServer(headersTimeout = defaultHeadersTimeout): Server {
  const rules = { ...headLimits(headersTimeout, 0), keepAliveTimeout: keepAlive, maxHeaderSize: 65_536 };
  return replyToEnded(nodeHttp.createServer(rules));
}

/** Listens and serves. Replies to health and readiness probes itself; they do not count as requests. */
export async function serveFunction(options: ServeOptions): Promise<FunctionServer> {
  const { handler, maxInflight, headersTimeout } = options;
  const inFlight = new Set<ServerResponse | Duplex>();
  /** With the response that is last awaited on each. */
  const connections = new Map<Socket, ServerResponse | undefined>();
  let draining = false;
  let changed = (): void => {};

  const enter = (what: ServerResponse | Duplex): void => {
    inFlight.add(what);
    changed();
    what.once("close", () => {
      inFlight.delete(what);
      changed();
    });
  };
  const full = (): boolean => maxInflight > 0 && inFlight.size >= maxInflight;
  const serve = (request: IncomingMessage, response: ServerResponse, expectsContinue = false): void => {
    const path = request.url?.split("?", 1)[0];
    connections.set(request.socket, response);
    if (draining) response.setHeader("Connection", "close");
    if (path === options.healthPath) {
      replyToProbe(response, true);
    } else if (path === options.readyPath) {
      handler.ready().then(
        (ready) => replyToProbe(response, ready && !draining),
        () => replyToProbe(response, false),
      );
    } else if (full()) {
      refuse(
        response,
        429,
        publicly`Cannot take the call: ${maxInflight} are in flight, as many as max_inflight allows`,
        {
          "retry-after": "1",
        },
      );
    } else {
      enter(response);
      if (expectsContinue && handler.givesContinue !== true) response.writeContinue();
      handler.handle(request, response);
    }
  };

  const server = options.server ?? createServer(headersTimeout);
  server.on("request", (request, response) => serve(request, response));
  server.on("checkContinue", (request, response) => serve(request, response, true));
  server.on("connection", (socket) => {
    connections.set(socket, undefined);
    socket.once("close", () => {
      connections.delete(socket);
      changed();
    });
    const probe = (): void => {
      const response = connections.get(socket);
      if (response?.headersSent === false) response.writeProcessing();
    };
    socket.once("end", () => followEndedClient(socket, { probe, firstProbe }));
  });
  if (handler.upgrade !== undefined) {
    const upgrade = handler.upgrade.bind(handler);
    server.on("upgrade", (request, socket, head) => {
      if (full()) {
        socket.end(
          "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        );
        return;
      }
      enter(socket);
      upgrade(request, socket, head);
    });
  }
  if (handler.tunnel !== undefined) {
    const tunnel = handler.tunnel.bind(handler);
    const tunnels = new WeakSet<Duplex>();
    server.on("clientError", (err: Error & { readonly rawPacket?: Buffer }, socket: Duplex) => {
      // The parser's timeouts do not apply to a tunnel.
      if (tunnels.has(socket)) return;
      const head = err.rawPacket;
      if (head?.toString("latin1", 0, http2Preface.length) !== http2Preface) {
        // A client that never closes its side must not keep the connection.
        if (socket.writable) socket.write("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
        socket.destroy();
        return;
      }
      tunnels.add(socket);
      socket.removeAllListeners("data");
      enter(socket);
      tunnel(socket, head);
    });
  }
  if (options.server === undefined) {
    server.listen(options.port, options.host);
    await once(server, "listening");
  }

  return {
    port: options.server === undefined ? (server.address() as AddressInfo).port : 0,
    drain: async (grace) => {
      draining = true;
      const until = performance.now() + grace;
      // Not the HTTP server's own `close`, which would close idle connections while requests are on their way.
      const close = (): void => void TcpServer.prototype.close.call(server);
      await stopAccepting(server, close, { quiet: quietTime, within: Math.min(longestAccepting, grace / 2) });
      await new Promise<void>((resolve) => {
        let quiet: NodeJS.Timeout | undefined;
        let looked: NodeJS.Immediate | undefined;
        const over = setTimeout(() => end(), Math.max(0, until - performance.now()));
        const wait = (): void => {
          clearTimeout(quiet);
          clearImmediate(looked);
        };
        const end = (): void => {
          wait();
          clearTimeout(over);
          resolve();
        };
        // After a pause of the process, timers fire before it has read what arrived meanwhile.
        const look = (): void => {
          looked = setImmediate(() => (looked = setImmediate(end)));
        };
        changed = () => {
          wait();
          if (connections.size === 0) end();
          else if (inFlight.size === 0) quiet = setTimeout(look, linger);
        };
        changed();
      });
    },
  };
}

function replyToProbe(response: ServerResponse, ok: boolean): void {
  refuse(response, ok ? 200 : 503, ok ? publicly`ok` : publicly`not ready`);
}
