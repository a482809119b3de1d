import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

import type { Registry } from "prom-client";

import type { SystemInfo } from "../api/system-info.ts";
import { ActivitySums, reportActivity } from "../core/activity-reporter.ts";
import type { CallbackRules } from "../core/callback-policy.ts";
import { knownLimits } from "../core/function-limits.ts";
import { formatRef } from "../core/function-ref.ts";
import { FunctionTable } from "../core/function-table.ts";
import type { Activity } from "../core/ports/activity.ts";
import type { CallLedger } from "../core/ports/call-ledger.ts";
import type { CallQueue } from "../core/ports/call-queue.ts";
import type { CallSignals } from "../core/ports/call-signals.ts";
import type { Endpoints } from "../core/ports/endpoints.ts";
import type { FunctionStore } from "../core/ports/function-store.ts";
import type { LogSource } from "../core/ports/log-source.ts";
import type { QueueCatalog } from "../core/ports/queue-catalog.ts";
import type { SecretStore } from "../core/ports/secret-store.ts";
import type { Upstream } from "../core/ports/upstream.ts";
import type { Usage } from "../core/ports/usage.ts";
import { QueueTable } from "../core/queue-table.ts";
import { SeenFunctionStore } from "../core/seen-function-store.ts";
import { Waker } from "../core/wake.ts";
import type { Log } from "../process/log.ts";
import { buildApp } from "./app.ts";
import { buildAcceptMetrics } from "./async/accept-metrics.ts";
import { createAsyncInvoker } from "./async/async-invoker.ts";
import { EndWatch } from "./async/end-watch.ts";
import { openBasicAuth, openToAll } from "./basic-auth.ts";
import { clientAddresses } from "./client-address.ts";
import { createErrorWriter } from "./error-handler.ts";
import { registerGatewayMetrics } from "./gateway-metrics.ts";
import { createGatewayServer } from "./http-server.ts";
import { InvocationCounts } from "./invocation/invocation-counts.ts";
import { createSyncInvoker } from "./invocation/sync-invoker.ts";
import type { WriteError } from "./invocation/write-error.ts";
import type { GatewaySettings } from "./settings.ts";

/** Everything a gateway works with. */
export interface GatewayParts {
  readonly settings: GatewaySettings;
  readonly functions: FunctionStore;
  readonly endpoints: Endpoints;
  readonly queues: QueueCatalog;
  readonly calls: CallQueue;
  readonly ledger: CallLedger;
  readonly signals: CallSignals;
  readonly activity: Activity;
  readonly upstream: Upstream;
  readonly secrets: SecretStore | undefined;
  readonly logs: LogSource | undefined;
  readonly usage?: Usage | undefined;
  readonly callbackRules: CallbackRules;
  readonly info: SystemInfo;
  readonly registry: Registry;
  /** Times the connection to the broker came back. */
  readonly reconnects: () => number;
  readonly log: Log;
}

/** The gateway: the one HTTP server of a platform. */
export interface Gateway {
  /** Fills the tables, then listens; resolves with the port. */
  open(): Promise<number>;
  /** From now on every reply closes its connection; requests are still served. */
  drain(): void;
  /** Stops listening and resolves when the last reply was sent. */
  close(): Promise<void>;
}

/** Assembles a gateway; it neither reads nor listens before `open`, but for its credentials and certificate. */
export function buildGateway(parts: GatewayParts): Gateway {
  const { settings, log } = parts;
  const source = `gateway-${randomUUID()}`;
  const table = new FunctionTable({ defaultNamespace: settings.functionNamespace, aliases: settings.namespaceAliases });
  const queues = new QueueTable();
  const functions = new SeenFunctionStore(parts.functions, table.functionObserver);
  const waker = new Waker({
    functions,
    table,
    wakeTimeout: settings.wakeTimeout,
    maxWaitingCallers: settings.maxWaitingCallers,
  });
  const counts = new InvocationCounts();
  const errors = createErrorWriter(log);
  const auth = settings.basicAuth ? openBasicAuth(settings.secretMountPath) : openToAll;
  const writeError: WriteError = (request, response, err, context) =>
    errors.writeError(request, response, err, context);
  const clients = clientAddresses(settings.trustedProxies);
  const ends = new EndWatch(parts.signals);
  const elsewhere = new ActivitySums(parts.activity, source);
  const common = {
    table,
    authorise: (authorization: string | undefined, client: string) => auth.check(authorization, client),
    clientOf: (peer: string | undefined, forwardedFor: string | undefined) => clients.of(peer, forwardedFor),
    isPlatformCredential: (authorization: string) => auth.isPlatformCredential(authorization),
    writeError,
  };
  const server = createGatewayServer({
    invoke: createSyncInvoker({
      ...common,
      waker,
      upstream: parts.upstream,
      counts,
      settings,
      draining: () => server.draining,
    }),
    invokeAsync: createAsyncInvoker({
      ...common,
      calls: parts.calls,
      ledger: parts.ledger,
      times: { callAge: settings.callAge, callRecordTtl: settings.callRecordTtl, ackWait: settings.ackWait },
      queues,
      signals: parts.signals,
      ends,
      edition: settings.edition,
      limitsOf: ({ deployment }) => knownLimits(deployment),
      invokeAuth: settings.invokeAuth,
      callbackRules: parts.callbackRules,
      bodyLimit: settings.asyncMaxBody,
      metrics: buildAcceptMetrics(parts.registry),
    }),
    writeError,
    headersTimeout: settings.headersTimeout,
    bodySilence: settings.bodySilence,
    isTrustedProxy: (address) => clients.isTrusted(address),
    ...tlsOf(settings),
  });
  const app = buildApp(
    {
      log,
      errors,
      auth,
      origins: { allowed: allowedOrigins(settings), clients },
      functions,
      secrets: parts.secrets,
      logs: parts.logs,
      usage: parts.usage,
      queues: parts.queues,
      namespaces: {
        defaultNamespace: settings.functionNamespace,
        aliases: settings.namespaceAliases,
        platformNamespace: settings.platformNamespace,
        reserved: settings.reservedNamespaces,
        edition: settings.edition,
      },
      edition: settings.edition,
      upstreamTimeout: settings.upstreamTimeout,
      endpoints: (ref) => table.findKey(formatRef(ref))?.endpoints,
      invocations: (ref) => counts.finished(formatRef(ref)) + elsewhere.finished(formatRef(ref)),
      info: parts.info,
      logHeartbeat: settings.logHeartbeat,
    },
    server.serverFactory,
  );
  table.onRemoved((entry) => counts.forget(entry.key));
  table.onGone((address) => parts.upstream.forget(address));
  registerGatewayMetrics(parts.registry, { counts, table, reconnects: parts.reconnects });

  const endings: (() => unknown)[] = [];
  return {
    open: async () => {
      endings.push(await parts.queues.watch(queues.observer));
      endings.push(await functions.watch(table.functionObserver));
      endings.push(await parts.endpoints.watch(table.endpointsObserver));
      endings.push(reportActivity(parts.activity, source, () => counts.entries()));
      await app.ready();
      return server.listen({ host: settings.host, port: settings.port });
    },
    drain: () => server.drain(),
    close: async () => {
      await app.close();
      await server.close();
      for (const end of endings.reverse()) end();
      ends.close();
      elsewhere.close();
    },
  };
}

/** Waits the time between being unready and refusing connections, still serving. */
export async function drainGateway(gateway: Gateway, shutdownDelay: number): Promise<void> {
  gateway.drain();
  await pause(shutdownDelay);
}

function allowedOrigins({ allowedOrigins: allowed, publicUrl }: GatewaySettings): readonly string[] {
  const own = publicUrl === undefined ? null : URL.parse(publicUrl);
  return own === null ? allowed : [...allowed, own.origin];
}

function tlsOf({ tlsCert, tlsKey }: GatewaySettings) {
  return tlsCert === undefined || tlsKey === undefined
    ? {}
    : { tls: { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) } };
}
