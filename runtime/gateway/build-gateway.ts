import { randomUUID } from "node:crypto";
import { drainTimeoutOf } from "../settings/drain-settings.ts";
import { withScalingReports } from "../core/history/reports/scaling-report-store.ts";
import { ActivitySums, reportActivity } from "../core/scaling/activity-reporter.ts";
import { limitsIn } from "../core/functions/function-facts.ts";
import { formatRef, type FunctionRef } from "../core/functions/function-ref.ts";
import { FunctionTable } from "../core/replicas/function-table.ts";
import { ensureDefaultNamespace } from "../core/namespaces/namespace-changes.ts";
import { isUsable, type NamespaceRules } from "../core/namespaces/namespace-rules.ts";
import { NamespaceTable } from "../core/namespaces/namespace-table.ts";
import type { QueuePlace } from "../core/queues/queue-remedy.ts";
import { QueueTable } from "../core/queues/queue-table.ts";
import { observedFunctionStore } from "../core/functions/observed-function-store.ts";
import { Waker } from "../core/replicas/wake.ts";
import { WorkerSums } from "../core/queues/worker-sums.ts";
import { createAccessLog } from "./calls/access-log.ts";
import type { AppParts } from "./rest/app-parts.ts";
import { buildApp } from "./rest/app.ts";
import { LogStreams } from "./rest/log-streams.ts";
import { consoleLink, consoleSessions, gatewayConsole } from "./console-port/gateway-console.ts";
import { buildAcceptMetrics } from "./calls/async/accept-metrics.ts";
import { Admission } from "./calls/admission.ts";
import { createReplayAcceptor } from "./calls/async/accept-replay.ts";
import { Acceptances } from "./calls/async/acceptances.ts";
import { createAsyncInvoker } from "./calls/async/async-invoker.ts";
import { EndWatch } from "./calls/async/end-watch.ts";
import { QueuePositions } from "./calls/async/queue-positions.ts";
import { buildAccess } from "./access/build-access.ts";
import { buildCallReports } from "./call-reports.ts";
import { buildCallCuts } from "./calls/call-cuts.ts";
import { createCallObserver, type CallObserver } from "./calls/call-observer.ts";
import type { KeepCall } from "./calls/sync/keep-sync-calls.ts";
import { configuredAddresses, configuredOrigins, loopbackOrigins } from "./access/check-origin.ts";
import { clientAddresses } from "./edge/client-address.ts";
import { asyncBodyPace } from "./edge/body-watch.ts";
import { buildRefusedConnections } from "./edge/refused-connections.ts";
import { gatewayDoctor } from "./doctor/gateway-doctor.ts";
import { emptyNamespaces } from "./empty-namespaces.ts";
import { createErrorWriter } from "./error-handler.ts";
import { registerGatewayMetrics } from "./metrics/gateway-metrics.ts";
import { createGatewayServer } from "./edge/http-server.ts";
import { DeadlineSweep } from "./calls/sync/deadline-sweep.ts";
import { asyncFunctionPrefix, functionPrefix } from "./calls/split-target.ts";
import { createSyncInvoker, type SyncInvokerParts } from "./calls/sync/sync-invoker.ts";
import type { WriteError } from "./calls/write-error.ts";
import { openInvokeKey } from "./access/invoke-key.ts";
import { RouteCounts } from "./metrics/route-counts.ts";
import { logUnknownCalls } from "./calls/unknown-calls.ts";
import { TableView } from "./table-view.ts";
import { answeredHosts, hostsOf } from "../settings/answered-hosts.ts";
import { tlsOf } from "./edge/tls-of.ts";
import { warnBeyondEdition } from "./warn-beyond-edition.ts";
import { warnNotReady } from "./warn-not-ready.ts";
import { WatchedCalls } from "./watch/watched-calls.ts";
import { WatchHub } from "./watch/watch-hub.ts";
import { watchQueues } from "./watch-queues.ts";
import type { BuiltGateway, GatewayParts } from "./gateway-parts.ts";

/** Assembles a gateway. Before `open` it does not listen, and reads only its credentials and certificate. */
export function buildGateway(parts: GatewayParts): BuiltGateway {
  const { settings, log } = parts;
  const source = `gateway-${randomUUID()}`;
  const namespaceTable = new NamespaceTable();
  const namespaces: NamespaceRules = {
    defaultNamespace: settings.functionNamespace,
    aliases: settings.namespaceAliases,
    platformNamespace: settings.platformNamespace,
    reserved: settings.reservedNamespaces,
    edition: settings.edition,
    exists: (name) => namespaceTable.find(name) !== undefined,
  };
  const namespaceParts = { namespaces, namespaceStore: parts.namespaces, namespaceTable };
  const table = new FunctionTable({ ...namespaces, isUsable: (name) => isUsable(name, namespaces) });
  const queues = new QueueTable();
  const reports = settings.history ? parts.reports : undefined;
  const functions = observedFunctionStore(withScalingReports(parts.functions, reports), table.functionObserver);
  const waker = new Waker({
    functions,
    table,
    wakeTimeout: settings.wakeTimeout,
    maxWaitingCallers: settings.maxWaitingCallers,
    maxWaitingBytes: settings.maxWaitingBytes,
    bytesElsewhere: () => acceptances.bytes,
  });
  const acceptances: Acceptances = new Acceptances({
    maxCalls: settings.maxWaitingCallers,
    maxBytes: settings.maxWaitingBytes,
    bytesElsewhere: () => waker.waitingBytes,
  });
  const callReports = buildCallReports({ ...parts, reports, source, table });
  const { counts } = callReports;
  const routes = new RouteCounts();
  const accessLog = settings.accessLog ? createAccessLog(log) : undefined;
  const access = buildAccess(parts);
  const errors = createErrorWriter(log, access.tokens !== undefined);
  const namesOf = (namespace: string): Iterable<string> => table.names(namespace);
  const logUnknown = logUnknownCalls({ ...namespaces, log, namesOf });
  const writeError: WriteError = (exchange, err, context) => {
    if (context.invocation) logUnknown(exchange.url, err);
    return errors.writeError(exchange, err, context);
  };
  const clients = clientAddresses(settings.trustedProxies);
  const pages = new Set(settings.allowedOrigins.map((origin) => origin.toLowerCase()));
  const origins = { allowed: new Set(configuredOrigins(settings)), pages, clients };
  const ends = new EndWatch(parts.signals);
  const elsewhere = new ActivitySums(parts.activity, source);
  const workers = new WorkerSums(parts.activity, undefined, source);
  const clientOf = (peer: string | undefined, forwardedFor: string | undefined) => clients.of(peer, forwardedFor);
  const callers = { table, invokeAuth: settings.invokeAuth, clientOf };
  const admission = new Admission({ ...callers, ...access.admission });
  const cuts = buildCallCuts(parts.registry, log);
  const observe = (path: string, keep?: KeepCall): CallObserver =>
    createCallObserver({ path, counts: routes, accessLog, cuts, keep, clientOf });
  const sweep = new DeadlineSweep();
  const edge = {
    onMalformed: (method: string, target: string, why: string) =>
      log.debug({ method, target: target.split("?", 1)[0], reason: why }, "malformed request"),
    onTooManyConnections: buildRefusedConnections(parts.registry),
    isTrustedProxy: (address: string) => clients.isTrusted(address),
  };
  const asyncParts = {
    admission,
    writeError,
    table,
    calls: parts.calls,
    ledger: parts.ledger,
    queues,
    positions: new QueuePositions(parts.states),
    signals: parts.signals,
    ends,
    edition: settings.edition,
    callbackRules: parts.callbackRules,
    bodyLimit: settings.asyncMaxBody,
    acceptTimeout: settings.acceptTimeout,
    acceptances,
    metrics: buildAcceptMetrics(parts.registry),
    observer: observe(`${asyncFunctionPrefix}:name`),
  };
  const syncParts: SyncInvokerParts = {
    admission,
    writeError,
    waker,
    upstream: parts.upstream,
    counts,
    settings,
    draining: () => server.draining,
    observer: observe(`${functionPrefix}:name`, callReports.keep),
    sweep,
    streamIdle: settings.streamIdleTimeout,
    webSocketIdle: settings.websocketIdleTimeout,
  };
  const server = createGatewayServer({
    ...edge,
    invoke: createSyncInvoker(syncParts),
    invokeAsync: createAsyncInvoker(asyncParts),
    writeError,
    routes,
    headersTimeout: settings.headersTimeout,
    bodyIdleTimeout: settings.bodyIdleTimeout,
    asyncBody: asyncBodyPace(settings.asyncMaxBody),
    maxConnectionsPerClient: settings.maxConnectionsPerClient,
    drainTimeout: drainTimeoutOf(settings),
    cutCalls: () => sweep.cutAll(),
    isInvokeKey: openInvokeKey(settings.secretMountPath),
    answersHost: answeredHosts([...settings.allowedHosts, ...hostsOf(configuredAddresses(settings))]),
    ...tlsOf(settings),
  });
  const view = new TableView(table);
  const home = parts.info.provider.orchestration === "kubernetes" ? "cluster" : "machine";
  const place: QueuePlace = { edition: settings.edition, home };
  const queueViews = { ...parts, table: queues, workers, place };
  const appParts: AppParts = {
    log,
    errors,
    auth: access.auth,
    tokens: access.tokens,
    audit: parts.audit,
    sessions: consoleSessions(parts),
    observer: access.observer,
    origins,
    functions,
    secrets: parts.secrets,
    logs: parts.logs,
    usage: parts.usage,
    folderFault: parts.folderFault,
    queues: parts.queues,
    queueParts: { ...queueViews, retriesOf: (ref) => maxRetriesOf(ref, table, queues) },
    doctor: gatewayDoctor(parts, table, queueViews),
    ...namespaceParts,
    edition: settings.edition,
    upstreamTimeout: settings.upstreamTimeout,
    timeoutMax: settings.timeoutMax,
    namesOf,
    watched: {
      functions: () => table.entries(),
      here: counts,
      elsewhere: new WatchedCalls(parts.activity, source),
    },
    endpoints: (ref) => view.endpoints(ref),
    view,
    invocations: (ref) => counts.finished(formatRef(ref)) + elsewhere.finished(formatRef(ref)),
    info: parts.info,
    address: () => address,
    consoleOf: consoleLink(parts),
    credentials: settings,
    scaleHold: settings.scaleHold,
    logStreams: new LogStreams({ heartbeat: settings.logHeartbeatPeriod }),
    logHeartbeatPeriod: settings.logHeartbeatPeriod,
    history: parts.history,
    requests: parts.requests,
    acceptReplay: createReplayAcceptor(asyncParts),
    routes,
  };
  const shared: AppParts = { ...appParts, watch: new WatchHub(appParts) };
  const app = buildApp(shared, server.serverFactory);
  const signIn = gatewayConsole(parts, {
    app: shared,
    server: edge,
    calls: {
      admission: { ...callers, isPlatformCredential: access.admission.isPlatformCredential },
      sync: syncParts,
      async: asyncParts,
    },
  });
  namespaceTable.onChange((name) => table.reindex(name));
  table.onRemoved(({ key }) => {
    counts.forget(key);
    elsewhere.forget(key);
  });
  table.onGone((address) => parts.upstream.release(address));
  warnNotReady(table, log);
  registerGatewayMetrics(parts.registry, { routes, table, reconnects: parts.reconnects });
  parts.invocations.show(counts);

  let address = "";
  const cleanups: (() => unknown)[] = [];
  return {
    open: async () => {
      const queuesKnown = watchQueues(parts, queues, cleanups);
      cleanups.push(await access.watch());
      cleanups.push(await parts.namespaces.watch(namespaceTable.observer));
      await ensureDefaultNamespace(namespaceParts);
      cleanups.push(await functions.watch(table.functionObserver));
      cleanups.push(await parts.endpoints.watch(table.endpointsObserver));
      warnBeyondEdition(table, settings, log);
      cleanups.push(reportActivity(parts.activity, source, () => counts.entries()));
      cleanups.push(callReports.open());
      cleanups.push(emptyNamespaces({ namespaces: namespaceTable, table, functions, requests: parts.requests, log }));
      await queuesKnown;
      await app.ready();
      const port = await server.listen({ host: settings.host, port: settings.port });
      const loopback = loopbackOrigins(port, settings.tlsCert !== undefined);
      for (const origin of loopback) origins.allowed.add(origin);
      address = settings.publicUrl ?? loopback[0] ?? "";
      await signIn?.open({ host: settings.consoleHost ?? settings.host, port: settings.consolePort });
      return port;
    },
    listenAlso: (addresses) => server.listenAlso(addresses),
    get inFlight() {
      return counts.inFlight;
    },
    drain: () => {
      signIn?.drain();
      server.drain();
    },
    close: async () => {
      await Promise.all([signIn?.close(), app.close().then(() => server.close())]);
      await access.close();
      for (const end of cleanups.reverse()) end();
      ends.close();
      elsewhere.close();
      workers.close();
    },
  };
}

function maxRetriesOf(ref: FunctionRef, table: FunctionTable, queues: QueueTable): number | undefined {
  const entry = table.findKey(formatRef(ref));
  if (entry === undefined) return undefined;
  const { retry, queue } = limitsIn(entry.facts);
  return retry.attempts ?? queues.find(queue)?.retry.attempts ?? 0;
}
