import { randomUUID } from "node:crypto";
import type { RequestListener, Server } from "node:http";
import type { Server as Listener } from "node:net";

import { PlatformError } from "../../api/platform-error.ts";
import { BodyWatch, type BodyPace } from "./body-watch.ts";
import { checkRequestLine } from "./check-request-line.ts";
import { ClientLimit } from "./client-limit.ts";
import { Http1Server } from "./http1/http1-server.ts";
import { RestServer } from "./rest-lane.ts";
import { endServer, ServersBeside, startServer, type ListenAddress } from "./servers-beside.ts";
import { understandRequest } from "./http1/understand-request.ts";
import { checkHttp2Head } from "./http2/http2-head.ts";
import { Http2Sessions } from "./http2/http2-sessions.ts";
import type { Exchange } from "../calls/exchange.ts";
import { createHeadReader, type TrustedPeers } from "./head-reader.ts";
import { asyncFunctionPrefix, functionPrefix } from "../calls/split-target.ts";
import type { HandleCall } from "../calls/sync/sync-invoker.ts";
import type { WriteError } from "../calls/write-error.ts";
import type { RouteCounts } from "../metrics/route-counts.ts";

/** The parts of the gateway's public server; durations in milliseconds. */
export interface GatewayServerParts extends TrustedPeers {
  /** Handles requests whose target begins with `/function/`; absent: they are not calls, nor are those below. */
  readonly invoke?: HandleCall | undefined;
  /** Handles requests whose target begins with `/async-function/`. */
  readonly invokeAsync?: HandleCall | undefined;
  readonly writeError: WriteError;
  /** Counts the requests that are refused before they reach a route. */
  readonly routes: RouteCounts;
  /** Longest time for the head of a request; for the first one of a connection since it was accepted. */
  readonly headersTimeout: number;
  /** Longest time without a byte of a body, in either direction. */
  readonly bodyIdleTimeout: number;
  /** How fast the body of an asynchronous call must arrive. */
  readonly asyncBody: BodyPace;
  /**
   * Most connections of one client at a time, 0 = any number; those of loopback and trusted proxies are not counted.
   */
  readonly maxConnectionsPerClient: number;
  /** Called for each violation of HTTP/1.1, with the reason and as much of the request line as was read. */
  readonly onMalformed?: (method: string, target: string, why: string) => void;
  /** Called for each connection over the limit of its client or of all clients. */
  readonly onTooManyConnections: (reason: "client" | "all") => void;
  /** How long calls may continue after `close` was called. */
  readonly drainTimeout: number;
  /**
   * Cuts the calls still in flight after that, WebSockets among them; connections that remain are closed afterwards.
   */
  readonly cutCalls: () => void;
  /** PEM texts; the server speaks TLS with them, and HTTP/2 with clients that ask for it. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
  /** Value of `Strict-Transport-Security` in replies over TLS; absent: none. */
  readonly hsts?: string;
}

/** The public server of the gateway. */
export interface GatewayServer {
  /** For Fastify, which serves all routes except the invocation routes. */
  readonly serverFactory: (handler: RequestListener) => Server;
  /** Port 0 = any free one; resolves with the port. Fastify must be ready by then. */
  listen(options: ListenAddress): Promise<number>;
  /**
   * Serves these addresses in addition to the first, always without TLS, and closes those of an earlier call that are
   * not among them. Rejects when it cannot listen at one of them; the others are served.
   */
  listenAlso(addresses: readonly ListenAddress[]): Promise<void>;
  /** The listener at the first address. */
  readonly listener: Listener;
  /** Milliseconds for which an idle connection is kept. */
  readonly keepAlive: number;
  /** Cuts all connections at the first address. */
  cutConnections(): void;
  /** From now on every reply closes its connection; requests are still served. */
  drain(): void;
  readonly draining: boolean;
  /**
   * Stops listening, closes idle connections, and resolves when the last reply was sent and the last WebSocket was
   * closed; connections that are still open after `drainTimeout` are cut.
   */
  close(): Promise<void>;
}

/** Contract §1.6 and `security.md` §2. */
const limits = {
  keepAlive: 65_000,
  connections: 10_000,
  /** Longest time for the whole body of a request that is not a call. */
  restBody: 30_000,
  /** Longest time for a client to receive the reset of its call. */
  reset: 1_000,
} as const;

/** `Allow` for methods that no route accepts. */
const allowed = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT";

/** Creates the public server of the gateway (`performance.md` §3). It does not listen yet. */
export function createGatewayServer(parts: GatewayServerParts): GatewayServer {
  let draining = false;
  const readHead = createHeadReader(parts);
  let rest: RestServer | undefined;

  const refuse = (exchange: Exchange, err: unknown): void => {
    exchange.shouldKeepAlive = false;
    const { url } = exchange;
    const invocation = url.startsWith(functionPrefix) || url.startsWith(asyncFunctionPrefix);
    const extra = err instanceof PlatformError && err.code === "method_not_allowed" ? { Allow: allowed } : {};
    parts.writeError(exchange, err, { invocation, extra, ...(invocation ? { callId: randomUUID() } : {}) });
  };
  const refuseHead = (exchange: Exchange, err: unknown): void => {
    refuse(exchange, err);
    parts.routes.add(undefined, exchange.method, exchange.statusCode, 0);
  };
  const bodies = new BodyWatch({
    idle: parts.bodyIdleTimeout,
    onTooSlow: (exchange, why) => {
      if (exchange.headersSent) exchange.destroy();
      else refuse(exchange, new PlatformError("request_timeout", `Cannot read request: its body ${why}`));
    },
  });

  /** Routes the request by its target; `isHttp10`: its client speaks HTTP/1.0. */
  const serve = (exchange: Exchange, isHttp10 = false): void => {
    const { url } = exchange;
    const call = url.startsWith(functionPrefix) ? parts.invoke : undefined;
    const asyncCall = url.startsWith(asyncFunctionPrefix) ? parts.invokeAsync : undefined;
    if (draining) exchange.shouldKeepAlive = false;
    if (!exchange.complete)
      bodies.watch(
        exchange,
        asyncCall !== undefined
          ? parts.asyncBody
          : call !== undefined
            ? { untilHead: true }
            : { longest: limits.restBody },
      );
    if (call !== undefined) call(exchange);
    else if (asyncCall !== undefined) asyncCall(exchange);
    else if (rest !== undefined) {
      // Most responses of the REST API have no length, so such a client needs the connection's end to see theirs.
      if (isHttp10) exchange.shouldKeepAlive = false;
      rest.take(exchange);
    } else refuse(exchange, new PlatformError("route_not_found", "Cannot find route: there are none"));
  };

  const sessions = new Http2Sessions({
    understand: (head, address) => {
      checkHttp2Head(head);
      checkRequestLine(head.method, head.url);
      return readHead(head.rawHeaders, address, true, server.local);
    },
    serve,
    refuse: refuseHead,
    keepAlive: limits.keepAlive,
    idle: parts.bodyIdleTimeout,
    draining: () => draining,
    hsts: parts.hsts,
  });
  const clients = new ClientLimit(
    parts.maxConnectionsPerClient,
    (address) => isLoopback(address) || parts.isTrustedProxy?.(address) === true,
  );
  const createServer = (tls: GatewayServerParts["tls"]): Http1Server =>
    new Http1Server({
      understand: (text, address, secure, local) => understandRequest(text, address, secure, readHead, local),
      serve: (exchange) => serve(exchange, exchange.old),
      refuse: refuseHead,
      onMalformed: ({ method, target }, status, why) => {
        parts.routes.add(undefined, method, status, 0);
        parts.onMalformed?.(method, target, why);
      },
      headersTimeout: parts.headersTimeout,
      keepAlive: limits.keepAlive,
      idle: parts.bodyIdleTimeout,
      mostConnections: limits.connections,
      clients,
      onTooMany: parts.onTooManyConnections,
      tls,
      hsts: tls === undefined ? undefined : parts.hsts,
      onHttp2: (socket, timeLeft) => sessions.take(socket, timeLeft),
    });
  const server = createServer(parts.tls);
  const others = new ServersBeside(() => createServer(undefined));

  return {
    serverFactory: (handler) => {
      rest = new RestServer(handler);
      return rest;
    },
    listen: (address) => startServer(server, address),
    listenAlso: (addresses) => others.serve(addresses),
    listener: server.listener,
    keepAlive: limits.keepAlive,
    cutConnections: () => server.closeAll(),
    drain: () => {
      draining = true;
      sessions.drain();
    },
    get draining() {
      return draining;
    },
    close: async () => {
      draining = true;
      sessions.close();
      const timers = [
        setTimeout(() => parts.cutCalls(), parts.drainTimeout),
        // Over HTTP/2 a cut resets a stream: the reset must still reach the client, or the reply looks complete.
        setTimeout(() => {
          server.closeAll();
          others.closeAll();
        }, parts.drainTimeout + limits.reset),
      ];
      await Promise.all([endServer(server), others.close()]);
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === "::1" || address.startsWith("::ffff:127.");
}
