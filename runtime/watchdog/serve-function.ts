import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

import { refuse, type FunctionHandler } from "./function-handler.ts";

/** How a function is served. */
export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly handler: FunctionHandler;
  /** Requests at the same time; 0 = no limit. */
  readonly maxInflight: number;
  readonly healthPath: string;
  readonly readyPath: string;
}

/** The HTTP server in front of a function. */
export interface FunctionServer {
  readonly port: number;
  /** Not ready from now on and open to nobody new; resolves when no request is in flight, or after `grace` milliseconds. */
  drain(grace: number): Promise<void>;
}

/** Longer than gateways keep idle connections, so that none is closed under a request. */
const keepAlive = 90_000;

/** Listens and serves. Health and readiness are answered here and count as no request. */
export async function serveFunction(options: ServeOptions): Promise<FunctionServer> {
  const { handler, maxInflight } = options;
  const inFlight = new Set<ServerResponse | Duplex>();
  let draining = false;
  let idle = (): void => {};

  const enter = (what: ServerResponse | Duplex): void => {
    inFlight.add(what);
    what.once("close", () => {
      inFlight.delete(what);
      if (inFlight.size === 0) idle();
    });
  };
  const full = (): boolean => maxInflight > 0 && inFlight.size >= maxInflight;
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url?.split("?", 1)[0];
    if (draining) response.setHeader("Connection", "close");
    if (path === options.healthPath) {
      answerProbe(response, true);
    } else if (path === options.readyPath) {
      handler.ready().then(
        (ready) => answerProbe(response, ready && !draining),
        () => answerProbe(response, false),
      );
    } else if (full()) {
      refuse(response, 429, `Cannot take the call: ${maxInflight} are in flight, as many as max_inflight allows`, {
        "retry-after": "1",
      });
    } else {
      enter(response);
      handler.handle(request, response);
    }
  };

  const server = createServer({ keepAliveTimeout: keepAlive, requestTimeout: 0, maxHeaderSize: 65_536 }, serve);
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
  server.listen(options.port, options.host);
  await once(server, "listening");

  return {
    port: (server.address() as AddressInfo).port,
    drain: async (grace) => {
      draining = true;
      server.close();
      if (inFlight.size === 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, grace);
        idle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}

function answerProbe(response: ServerResponse, ok: boolean): void {
  refuse(response, ok ? 200 : 503, ok ? "ok" : "not ready");
}
