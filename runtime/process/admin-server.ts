import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { Registry } from "prom-client";

import { answeredHosts, isLoopbackListener, unansweredHost } from "../settings/answered-hosts.ts";
import { headLimits, replyToEnded } from "./sockets/http-server-rules.ts";

/** A reason not to be ready, or undefined. */
export type ReadinessCheck = () => string | undefined;

/** What readiness checks are about. */
export type ReadinessCheckName = "broker" | "provider";

/** The server of every process for probes and metrics; never exposed. */
export interface AdminServer {
  /** 0 when it listens on a Unix socket. */
  readonly port: number;
  readonly registry: Registry;
  /** `/readyz` requires all checks to pass, except those that the request excludes. */
  addCheck(name: ReadinessCheckName, check: ReadinessCheck): void;
  /** `/metrics` also has those of a child process, as Prometheus reads them; without them while that does not answer. */
  addMetrics(read: () => Promise<string>): void;
  /** Everything is open; until now `/readyz` replied 503 with "starting". */
  ready(): void;
  /** From now on `/readyz` replies 503 with "draining". */
  drain(): void;
  close(): Promise<void>;
}

/** How it listens. */
export interface AdminServerOptions {
  /** One with a slash is the path of a Unix socket, which takes the place of the port. */
  readonly host: string;
  /** 0 = any free one. */
  readonly port: number;
  /** Names that it answers to beside those of this machine, where it listens on loopback; none when absent. */
  readonly allowedHosts?: readonly string[];
  /** Milliseconds for a request, from the start of its connection for the first one. */
  readonly headersTimeout: number;
}

/** Milliseconds after which a client that reads nothing of its reply is cut. */
const unreadTimeout = 30_000;

/**
 * Opens `/livez`, `/healthz`, `/readyz` (200, or 503 with one reason per line) and `/metrics`.
 * On loopback a request for another host is 421, as a page of the Internet may have made its name lead here.
 * `/readyz?exclude=broker` leaves a check out, as the health endpoints of Kubernetes components do
 * (https://kubernetes.io/docs/reference/using-api/health-checks/); an unknown name excludes nothing.
 */
export async function openAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  const registry = new Registry();
  const checks: { readonly name: string; readonly check: ReadinessCheck }[] = [];
  const others: (() => Promise<string>)[] = [];
  let phase: "starting" | "ready" | "draining" = "starting";

  const reasons = (excluded: readonly string[]): string[] => [
    ...(phase === "ready" ? [] : [phase]),
    ...checks.flatMap(({ name, check }) => (excluded.includes(name) ? [] : (check() ?? []))),
  ];
  const allMetrics = async (): Promise<string> => {
    const texts = [registry.metrics(), ...others.map((read) => read().catch(() => ""))];
    return (await Promise.all(texts)).filter((text) => text !== "").join("\n");
  };
  const responseTo = async (
    path: string,
    query: URLSearchParams,
  ): Promise<{ status: number; type: string; body: string }> => {
    const textType = "text/plain; charset=utf-8";
    switch (path) {
      case "/livez":
      case "/healthz":
        return { status: 200, type: textType, body: "ok\n" };
      case "/readyz": {
        const failing = reasons(query.getAll("exclude"));
        return failing.length === 0
          ? { status: 200, type: textType, body: "ok\n" }
          : { status: 503, type: textType, body: `${failing.join("\n")}\n` };
      }
      case "/metrics":
        return { status: 200, type: registry.contentType, body: await allMetrics() };
      default:
        return { status: 404, type: textType, body: "not found\n" };
    }
  };
  const answers = answeredHosts(options.allowedHosts ?? []);
  let isLocal = false;
  const server = createServer(headLimits(options.headersTimeout), (request, response) => {
    const { host = "" } = request.headers;
    if (isLocal && !answers(host)) {
      const type = "text/plain; charset=utf-8";
      response.writeHead(421, { "content-type": type }).end(`${unansweredHost(JSON.stringify(host))}\n`);
      return;
    }
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.writeHead(405, { allow: "GET, HEAD" }).end();
      return;
    }
    const [path = "", query] = (request.url ?? "").split("?", 2);
    responseTo(path, new URLSearchParams(query)).then(
      ({ status, type, body }) =>
        response.writeHead(status, { "content-type": type, "x-content-type-options": "nosniff" }).end(body),
      () => response.writeHead(500).end(),
    );
  });
  replyToEnded(server).setTimeout(unreadTimeout);
  const isSocket = options.host.includes("/");
  // What a killed process left would keep this one from listening.
  if (isSocket) await rm(options.host, { force: true });
  server.listen(isSocket ? { path: options.host } : options);
  await once(server, "listening");

  const bound = isSocket ? undefined : (server.address() as AddressInfo);
  isLocal = bound !== undefined && isLoopbackListener(bound.address);

  return {
    port: bound?.port ?? 0,
    registry,
    addCheck: (name, check) => void checks.push({ name, check }),
    addMetrics: (read) => void others.push(read),
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
