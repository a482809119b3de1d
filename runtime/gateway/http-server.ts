import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";

import { PlatformError } from "../api/platform-error.ts";
import { answerClientError, writeRaw } from "./client-error.ts";
import { readRequestHead, type Peer, type RequestHead } from "./invocation/request-head.ts";
import { asyncFunctionPrefix, functionPrefix } from "./invocation/split-target.ts";
import type { CallHandler } from "./invocation/sync-invoker.ts";
import type { WriteError } from "./invocation/write-error.ts";
import { SilenceWatch } from "./silence-watch.ts";

/** What the public server of the gateway is made of; durations in milliseconds. */
export interface GatewayServerParts {
  /** Takes requests whose target begins with `/function/`. */
  readonly invoke: CallHandler;
  /** Takes requests whose target begins with `/async-function/`. */
  readonly invokeAsync: CallHandler;
  readonly writeError: WriteError;
  /** Longest a client may take for the head of a request. */
  readonly headersTimeout: number;
  /** Longest a body may rest without a byte. */
  readonly bodySilence: number;
  /** Whether the address is a proxy whose `X-Forwarded-*` count; none is if absent. */
  readonly isTrustedProxy?: (address: string) => boolean;
  /** PEM texts; the server speaks TLS with them. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
}

/** The public server of the gateway. */
export interface GatewayServer {
  readonly server: Server;
  /** Give it to Fastify: all routes but the invocation routes are its own. */
  readonly serverFactory: (handler: RequestListener) => Server;
  /** Port 0 = any free one; resolves with the port. Fastify must be ready by then. */
  listen(options: { readonly host: string; readonly port: number }): Promise<number>;
  /** From now on every reply closes its connection; requests are still served. */
  drain(): void;
  readonly draining: boolean;
  /** Stops listening, closes idle connections at once and resolves when the last reply was sent. */
  close(): Promise<void>;
}

/** Contract §1.6 and `security.md` §2. */
const limits = {
  head: 16_384,
  target: 8_192,
  keepAlive: 65_000,
  connections: 10_000,
  connectionsCheckingInterval: 1_000,
  /** Longest the body of a request that is no call may take in all. */
  plainBody: 30_000,
} as const;

/** For the two methods that no route takes. */
const allowed = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT";

const origin = /^\/[!"$-~]*$/;

/** Makes the one `http.Server` of the gateway (`performance.md` §3). It does not listen yet. */
export function createGatewayServer(parts: GatewayServerParts): GatewayServer {
  let draining = false;
  let handleOther: RequestListener = (request, response) => {
    parts.writeError(request, response, new PlatformError("route_not_found", "Cannot find route: there are none"), {
      invocation: false,
    });
  };
  /** Connections that ended with an error: nothing after it is served. */
  const refused = new WeakSet<Socket>();
  const secure = parts.tls !== undefined;
  const plainPeer: Peer = { trusted: false, secure };
  const proxyPeer: Peer = { trusted: true, secure };

  const refuse = (request: IncomingMessage, response: ServerResponse, err: unknown): void => {
    refused.add(request.socket);
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

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    if (refused.has(socket)) return;
    const target = request.url ?? "";
    let head: RequestHead;
    try {
      checkRequestLine(request.method ?? "", target);
      const address = socket.remoteAddress ?? "";
      head = readRequestHead(
        request.rawHeaders,
        address,
        parts.isTrustedProxy?.(address) === true ? proxyPeer : plainPeer,
      );
    } catch (err) {
      refuse(request, response, err);
      return;
    }
    if (draining) response.shouldKeepAlive = false;
    const isCall = target.startsWith(functionPrefix);
    const isAsyncCall = !isCall && target.startsWith(asyncFunctionPrefix);
    if (head.chunked || (head.contentLength ?? 0) > 0) {
      if (head.expect) response.writeContinue();
      silence.watch(request, response, isCall || isAsyncCall ? undefined : limits.plainBody);
    }
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
  };
  const server: Server =
    parts.tls === undefined
      ? createServer(options, handle)
      : createTlsServer({ ...options, ...parts.tls, ALPNProtocols: ["http/1.1"] }, handle);
  server.maxHeadersCount = 0;
  server.maxConnections = limits.connections;
  server.timeout = 0;
  server.on("checkContinue", handle);
  server.on("checkExpectation", handle);
  server.on("connect", (_request: IncomingMessage, socket: Duplex) => {
    socket.on("error", () => socket.destroy());
    writeRaw(socket, 405, 'Cannot use method "CONNECT": it is not allowed here', [`Allow: ${allowed}`]);
  });

  return {
    server,
    serverFactory: (handler) => {
      handleOther = handler;
      return server;
    },
    listen: async ({ host, port }) => {
      // Fastify adds a listener of its own, which would answer a second time.
      server.removeAllListeners("clientError");
      server.on("clientError", answerClientError);
      server.listen(port, host);
      await once(server, "listening");
      return (server.address() as AddressInfo).port;
    },
    drain: () => {
      draining = true;
    },
    get draining() {
      return draining;
    },
    close: async () => {
      draining = true;
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      // Connections whose reply began before the drain become idle later.
      const idle = setInterval(() => server.closeIdleConnections(), 100);
      await closed;
      clearInterval(idle);
    },
  };
}

/** @throws PlatformError for targets and methods that no route takes; all of them close the connection */
function checkRequestLine(method: string, target: string): void {
  if (target.length > limits.target) {
    throw new PlatformError(
      "target_too_long",
      `Cannot read request: its target of ${target.length} bytes is over the limit of ${limits.target}`,
    );
  }
  if (!origin.test(target)) {
    throw new PlatformError(
      "malformed_request",
      "Cannot read request: its target is not an origin-form of printable ASCII",
    );
  }
  if (method === "TRACE")
    throw new PlatformError("method_not_allowed", 'Cannot use method "TRACE": it is not allowed here');
}
