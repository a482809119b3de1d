import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

import { PlatformError } from "../api/platform-error.ts";
import { writeRaw } from "./client-error.ts";
import { checkRequestLine, oldChunks } from "./check-request-line.ts";
import { continueOnRead } from "./continue-on-read.ts";
import { cutSlowReader } from "./cut-slow-reader.ts";
import { FastServer } from "./fast-path/fast-server.ts";
import type { PlainRequest } from "./fast-path/plain-request.ts";
import type { PlainResponse } from "./fast-path/plain-response.ts";
import { checkHttp2Head, Http2Request } from "./http2/http2-request.ts";
import { Http2Sessions } from "./http2/http2-sessions.ts";
import type { CallRequest, CallResponse } from "./invocation/exchange.ts";
import { createHeadReader, type TrustedPeers } from "./invocation/head-reader.ts";
import type { RequestHead } from "./invocation/request-head.ts";
import { asyncFunctionPrefix, functionPrefix } from "./invocation/split-target.ts";
import type { CallHandler } from "./invocation/sync-invoker.ts";
import { isWebSocketHandshake, UpgradeResponse } from "./invocation/upgrade-response.ts";
import type { WriteError } from "./invocation/write-error.ts";
import type { RouteCounts } from "./route-counts.ts";
import { endServer, ServersBeside, startServer, type ListenAddress } from "./servers-beside.ts";
import { SilenceWatch } from "./silence-watch.ts";
import { UpgradedSockets } from "./upgraded-sockets.ts";

/** What the public server of the gateway is made of; durations in milliseconds. */
export interface GatewayServerParts extends TrustedPeers {
  /** Takes requests whose target begins with `/function/`. */
  readonly invoke: CallHandler;
  /** Takes requests whose target begins with `/async-function/`. */
  readonly invokeAsync: CallHandler;
  readonly writeError: WriteError;
  /** Where requests are counted that get no further than here. */
  readonly routes: RouteCounts;
  /** Longest a client may take for the head of a request. */
  readonly headersTimeout: number;
  /** Longest a body may rest without a byte, in either direction. */
  readonly bodySilence: number;
  /** How long WebSockets stay open after `close` was called. */
  readonly webSocketGrace: number;
  /** PEM texts; the server speaks TLS with them, and HTTP/2 with clients that ask for it. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
}

/** The public server of the gateway. */
export interface GatewayServer {
  readonly server: Server;
  /** Give it to Fastify: all routes but the invocation routes are its own. */
  readonly serverFactory: (handler: RequestListener) => Server;
  /** Port 0 = any free one; resolves with the port. Fastify must be ready by then. */
  listen(options: ListenAddress): Promise<number>;
  /**
   * Answers, beside the first address and always without TLS, at these addresses and at no others that were named so
   * before. Rejects when one of them cannot be had; the others are served.
   */
  listenAlso(addresses: readonly ListenAddress[]): Promise<void>;
  /** From now on every reply closes its connection; requests are still served. */
  drain(): void;
  readonly draining: boolean;
  /**
   * Stops listening, then closes idle connections and resolves when the last reply was sent and WebSockets were
   * closed, by themselves or after their grace.
   */
  close(): Promise<void>;
}

/** Contract §1.6 and `security.md` §2. */
const limits = {
  head: 16_384,
  keepAlive: 65_000,
  connections: 10_000,
  connectionsCheckingInterval: 1_000,
  /** Longest the body of a request that is no call may take in all. */
  plainBody: 30_000,
} as const;

/** For the two methods that no route takes. */
const allowed = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT";

/** Makes the one `http.Server` of the gateway (`performance.md` §3). It does not listen yet. */
export function createGatewayServer(parts: GatewayServerParts): GatewayServer {
  let draining = false;
  const readHead = createHeadReader(parts);
  let handleOther: RequestListener = (request, response) => {
    parts.writeError(request, response, new PlatformError("route_not_found", "Cannot find route: there are none"), {
      invocation: false,
    });
  };
  /** Connections whose last request has come: nothing after it is served. */
  const ending = new WeakSet<Socket>();
  const upgraded = new UpgradedSockets();

  const refuse = (request: CallRequest, response: CallResponse, err: unknown): void => {
    ending.add(request.socket);
    response.shouldKeepAlive = false;
    const target = request.url ?? "";
    const invocation = target.startsWith(functionPrefix) || target.startsWith(asyncFunctionPrefix);
    const extra = err instanceof PlatformError && err.code === "method_not_allowed" ? { Allow: allowed } : {};
    parts.writeError(request, response, err, { invocation, extra, ...(invocation ? { callId: randomUUID() } : {}) });
  };
  const silence = new SilenceWatch({
    silence: parts.bodySilence,
    onSilent: (request, response) => {
      if (response.headersSent) request.socket.destroy();
      else
        refuse(request, response, new PlatformError("request_timeout", "Cannot read request: its body stopped coming"));
    },
  });

  /** False: there is something to refuse, which the long way does. */
  const answerPlain = (request: PlainRequest, response: PlainResponse): boolean => {
    let head: RequestHead;
    try {
      head = request.understand(readHead);
    } catch {
      return false;
    }
    if (draining) response.shouldKeepAlive = false;
    if (!request.complete) silence.watch(request, response);
    if (request.url.startsWith(functionPrefix)) parts.invoke(request, response, head);
    else parts.invokeAsync(request, response, head);
    return true;
  };
  const answer = (request: IncomingMessage, response: ServerResponse, secure: boolean): void => {
    const { socket } = request;
    if (ending.has(socket)) return;
    const target = request.url ?? "";
    let head: RequestHead;
    try {
      if (request instanceof Http2Request) checkHttp2Head(request);
      checkRequestLine(request, target);
      head = readHead(request, secure);
      if (head.chunked && request.httpVersion === "1.0") throw oldChunks();
    } catch (err) {
      refuse(request, response, err);
      parts.routes.add(undefined, request.method, response.statusCode, 0);
      return;
    }
    if (draining) response.shouldKeepAlive = false;
    if (head.upgrade !== undefined) {
      // node:http loses what came in one piece with an upgrade that it does not make.
      ending.add(socket);
      response.shouldKeepAlive = false;
    }
    const isCall = target.startsWith(functionPrefix);
    const isAsyncCall = !isCall && target.startsWith(asyncFunctionPrefix);
    if (head.chunked || (head.contentLength ?? 0) > 0) {
      if (head.expect) continueOnRead(request, response);
      silence.watch(request, response, isCall || isAsyncCall ? undefined : limits.plainBody);
    }
    // A synchronous call has a limit of its own, which ends it for readers, too.
    if (!isCall) socket.setTimeout(parts.bodySilence);
    if (isCall) parts.invoke(request, response, head);
    else if (isAsyncCall) parts.invokeAsync(request, response, head);
    else handleOther(request, response);
  };

  const options = {
    maxHeaderSize: limits.head,
    headersTimeout: parts.headersTimeout,
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(limits.connectionsCheckingInterval, parts.headersTimeout),
    keepAliveTimeout: limits.keepAlive,
    // Both are ours to check, so that both are answered in the words of the contract.
    requireHostHeader: false,
    insecureHTTPParser: false,
    // A request without a body begins as one that was read: nothing waits for its end.
    optimizeEmptyRequests: true,
    shouldUpgradeCallback: isWebSocketHandshake,
  };
  const fastPath = {
    handle: answerPlain,
    headersTimeout: parts.headersTimeout,
    keepAlive: limits.keepAlive,
    silence: parts.bodySilence,
  };
  const makeServer = (tls: GatewayServerParts["tls"]): Server => {
    const handle = (request: IncomingMessage, response: ServerResponse): void =>
      answer(request, response, tls !== undefined);
    const made: Server =
      tls === undefined
        ? new FastServer(options, handle, fastPath)
        : createTlsServer({ ...options, ...tls, ALPNProtocols: ["h2", "http/1.1"] }, handle);
    made.maxHeadersCount = 0;
    made.maxConnections = limits.connections;
    made.timeout = 0;
    made.on("timeout", cutSlowReader);
    made.on("checkContinue", handle);
    made.on("checkExpectation", handle);
    made.on("upgrade", (request: IncomingMessage, _socket: Duplex, head: Buffer) => {
      upgraded.add(made, request.socket);
      // Waking a function may take longer than a body may rest.
      request.socket.setTimeout(0);
      handle(request, new UpgradeResponse(request, head));
    });
    made.on("connect", (_request: IncomingMessage, socket: Duplex) => {
      socket.on("error", () => socket.destroy());
      writeRaw(socket, 405, 'Cannot use method "CONNECT": it is not allowed here', [`Allow: ${allowed}`]);
    });
    return made;
  };
  const server = makeServer(parts.tls);
  const sessions = new Http2Sessions({
    handle: (request, response) => answer(request, response, true),
    headersTimeout: parts.headersTimeout,
    keepAlive: limits.keepAlive,
    draining: () => draining,
  });
  if (parts.tls !== undefined) sessions.join(server);
  const others = new ServersBeside(
    () => makeServer(undefined),
    (gone) => {
      gone.closeAllConnections();
      upgraded.cut(gone);
    },
  );

  return {
    server,
    serverFactory: (handler) => {
      handleOther = handler;
      return server;
    },
    listen: (address) => startServer(server, address),
    listenAlso: (addresses) => others.serve(addresses),
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
      const cut = setTimeout(() => upgraded.cut(), parts.webSocketGrace);
      await Promise.all([endServer(server), others.close()]);
      clearTimeout(cut);
    },
  };
}
