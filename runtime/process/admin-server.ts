import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { Registry } from "prom-client";

/** A reason not to be ready, or undefined. */
export type ReadinessCheck = () => string | undefined;

/** The open port of every process for probes and metrics; never exposed. */
export interface AdminServer {
  readonly port: number;
  readonly registry: Registry;
  /** All checks together decide `/readyz`. */
  addCheck(check: ReadinessCheck): void;
  /** Everything is open: until now `/readyz` answered 503 with "starting". */
  ready(): void;
  /** From now on `/readyz` answers 503 with "draining". */
  drain(): void;
  close(): Promise<void>;
}

/** Opens `/livez`, `/healthz`, `/readyz` (200, or 503 with a reason a line) and `/metrics`. Port 0 = any free one. */
export async function openAdminServer(options: { readonly host: string; readonly port: number }): Promise<AdminServer> {
  const registry = new Registry();
  const checks: ReadinessCheck[] = [];
  let phase: "starting" | "ready" | "draining" = "starting";

  const reasons = (): string[] => [
    ...(phase === "ready" ? [] : [phase]),
    ...checks.map((check) => check()).filter((reason) => reason !== undefined),
  ];
  const answer = async (path: string): Promise<{ status: number; type: string; body: string }> => {
    const plain = "text/plain; charset=utf-8";
    switch (path) {
      case "/livez":
      case "/healthz":
        return { status: 200, type: plain, body: "ok\n" };
      case "/readyz": {
        const why = reasons();
        return why.length === 0
          ? { status: 200, type: plain, body: "ok\n" }
          : { status: 503, type: plain, body: `${why.join("\n")}\n` };
      }
      case "/metrics":
        return { status: 200, type: registry.contentType, body: await registry.metrics() };
      default:
        return { status: 404, type: plain, body: "not found\n" };
    }
  };
  const server = createServer((request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.writeHead(405, { allow: "GET, HEAD" }).end();
      return;
    }
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    answer(path).then(
      ({ status, type, body }) =>
        response.writeHead(status, { "content-type": type, "x-content-type-options": "nosniff" }).end(body),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(options.port, options.host);
  await once(server, "listening");

  return {
    port: (server.address() as AddressInfo).port,
    registry,
    addCheck: (check) => void checks.push(check),
    ready: () => {
      phase = "ready";
    },
    drain: () => {
      phase = "draining";
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
