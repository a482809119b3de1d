import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { Registry } from "prom-client";

/** A reason not to be ready, or undefined. */
export type ReadinessCheck = () => string | undefined;

/** What a process needs and can ask about. */
export type ReadinessCheckName = "broker" | "provider";

/** The open port of every process for probes and metrics; never exposed. */
export interface AdminServer {
  readonly port: number;
  readonly registry: Registry;
  /** All checks together decide `/readyz`, but for those that the one who asks excludes. */
  addCheck(name: ReadinessCheckName, check: ReadinessCheck): void;
  /** Everything is open: until now `/readyz` answered 503 with "starting". */
  ready(): void;
  /** From now on `/readyz` answers 503 with "draining". */
  drain(): void;
  close(): Promise<void>;
}

/**
 * Opens `/livez`, `/healthz`, `/readyz` (200, or 503 with a reason a line) and `/metrics`. Port 0 = any free one.
 * `/readyz?exclude=broker` leaves a check out, as the health endpoints of Kubernetes components do
 * (https://kubernetes.io/docs/reference/using-api/health-checks/); a name that is none excludes nothing.
 */
export async function openAdminServer(options: { readonly host: string; readonly port: number }): Promise<AdminServer> {
  const registry = new Registry();
  const checks: { readonly name: string; readonly check: ReadinessCheck }[] = [];
  let phase: "starting" | "ready" | "draining" = "starting";

  const reasons = (excluded: readonly string[]): string[] => [
    ...(phase === "ready" ? [] : [phase]),
    ...checks.flatMap(({ name, check }) => (excluded.includes(name) ? [] : (check() ?? []))),
  ];
  const answer = async (
    path: string,
    query: URLSearchParams,
  ): Promise<{ status: number; type: string; body: string }> => {
    const plain = "text/plain; charset=utf-8";
    switch (path) {
      case "/livez":
      case "/healthz":
        return { status: 200, type: plain, body: "ok\n" };
      case "/readyz": {
        const why = reasons(query.getAll("exclude"));
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
    const [path = "", query] = (request.url ?? "").split("?", 2);
    answer(path, new URLSearchParams(query)).then(
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
    addCheck: (name, check) => void checks.push({ name, check }),
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
