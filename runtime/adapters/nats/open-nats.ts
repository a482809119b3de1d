import { readFileSync } from "node:fs";

import { recordLifetime, type CallTimes } from "../../core/calls/call-ttl.ts";
import type { QueueDeclaration } from "../../core/ports/queue-catalog.ts";
import { NatsAuditTrail } from "./audit/nats-audit-trail.ts";
import { NatsHistoryReports } from "./history/nats-history-reports.ts";
import { NatsBrokerView } from "./records/nats-broker-view.ts";
import { NatsActivity } from "./stores/nats-activity.ts";
import { NatsCallLedger } from "./records/nats-call-ledger.ts";
import { NatsKeptRequests } from "./records/nats-kept-requests.ts";
import { NatsCallQueue } from "./queues/nats-call-queue.ts";
import { NatsCallSignals } from "./records/nats-call-signals.ts";
import { NatsCallbackQueue } from "./queues/nats-callback-queue.ts";
import { NatsDeadLetters } from "./queues/nats-dead-letters.ts";
import { NatsEndpoints } from "./stores/nats-endpoints.ts";
import { NatsFunctionStore } from "./stores/nats-function-store.ts";
import { NatsHealth } from "./link/nats-health.ts";
import { NatsLeases } from "./stores/nats-leases.ts";
import type { NatsLink, NatsOptions } from "./link/nats-link.ts";
import { NatsNamespaceStore } from "./stores/nats-namespace-store.ts";
import { NatsQueueCatalog } from "./stores/nats-queue-catalog.ts";
import { NatsSessionStore } from "./stores/nats-session-store.ts";
import { NatsQueueStates } from "./queues/nats-queue-states.ts";
import { NatsQueueStore } from "./queues/nats-queue-store.ts";
import { NatsUnstoredCalls } from "./queues/nats-unstored-calls.ts";
import type { StreamFacts } from "./streams.ts";
import { callbackSource, callSource } from "./queues/worker-sources.ts";

/** Expiry of a pull request on a strict queue, milliseconds: bounds how long it outlives the worker's turn. */
const strictPullExpiry = 1_000;

/** For so long the record of a call says that it was not stored, milliseconds. */
const unstoredLifetime = 24 * 3_600_000;

/** The broker settings of a process (`brokerSettings`). */
export interface BrokerAccess {
  readonly natsUrl: string;
  readonly natsUser?: string | undefined;
  readonly natsPasswordFile?: string | undefined;
  readonly natsCaFile?: string | undefined;
  readonly natsPingInterval: number;
  readonly natsMonitorUrl?: readonly string[] | undefined;
}

/** Connection options from settings; the password comes from its file. */
export function natsOptions(access: BrokerAccess, name: string, inboxPrefix: string): NatsOptions {
  return {
    url: access.natsUrl,
    name,
    user: access.natsUser,
    password: access.natsPasswordFile === undefined ? undefined : readFileSync(access.natsPasswordFile, "utf8").trim(),
    ca: access.natsCaFile === undefined ? undefined : readFileSync(access.natsCaFile, "utf8"),
    inboxPrefix,
    pingInterval: access.natsPingInterval,
    monitorUrls: access.natsMonitorUrl ?? [],
  };
}

/** Desired functions and their endpoints, which one machine keeps in the broker. */
export function machineFunctions(link: NatsLink) {
  return { functions: new NatsFunctionStore(link), endpoints: new NatsEndpoints(link) };
}

/** As `machineFunctions`, with the namespaces; for a gateway. */
export function machineHome(link: NatsLink) {
  return { ...machineFunctions(link), namespaces: new NatsNamespaceStore(link) };
}

/** Broker adapters of a gateway on one machine. */
export function gatewayAdapters(link: NatsLink, times: CallTimes) {
  return { ...gatewayBroker(link, times), ...machineHome(link) };
}

/** Broker adapters of a queue-worker on one machine. */
export function workerAdapters(link: NatsLink, inboxPrefix: string) {
  return { ...workerBroker(link, inboxPrefix), ...machineFunctions(link) };
}

/** Broker adapters of an autoscaler on one machine. */
export function autoscalerAdapters(link: NatsLink) {
  return { ...autoscalerBroker(link), ...machineFunctions(link) };
}

/** Broker adapters of a gateway, wherever functions are kept. */
export function gatewayBroker(link: NatsLink, times: CallTimes) {
  return {
    ...commonAdapters(link),
    ledger: new NatsCallLedger(link, recordLifetime(times), { accepts: true }),
    calls: new NatsCallQueue(link),
    letters: new NatsDeadLetters(link),
    queues: new NatsQueueCatalog(link),
    broker: new NatsBrokerView(link),
    audit: new NatsAuditTrail(link),
    sessions: new NatsSessionStore(link),
    requests: new NatsKeptRequests(link),
  };
}

/** As `gatewayBroker`, for a queue-worker. The lifetime of records depends on the queue's declaration, among others. */
export function workerBroker(link: NatsLink, inboxPrefix: string) {
  return {
    ...commonAdapters(link),
    openLedger: (times: CallTimes) => new NatsCallLedger(link, recordLifetime(times), { accepts: false }),
    catalog: new NatsQueueCatalog(link),
    deadLetters: new NatsDeadLetters(link),
    requests: new NatsKeptRequests(link),
    leases: new NatsLeases(link),
    openDeliveries: ({ name, ackWait, strict }: QueueDeclaration) =>
      callSource(link, name, ackWait, inboxPrefix, strict ? strictPullExpiry : undefined),
    openCallbacks: (queue: string, ackWait: number) => callbackSource(link, queue, ackWait, inboxPrefix),
  };
}

function commonAdapters(link: NatsLink) {
  return {
    signals: new NatsCallSignals(link),
    activity: new NatsActivity(link),
    reports: new NatsHistoryReports(link),
    callbacks: new NatsCallbackQueue(link),
    states: new NatsQueueStates(link),
    reconnects: () => link.reconnects,
  };
}

/** As `gatewayBroker`, for an autoscaler. */
export function autoscalerBroker(link: NatsLink) {
  return {
    activity: new NatsActivity(link),
    reports: new NatsHistoryReports(link),
    states: new NatsQueueStates(link),
    leases: new NatsLeases(link),
  };
}

/**
 * Broker adapters of a queue-doctor; `monitorUrls` are the monitoring addresses of the broker's servers, if known.
 * `sync` writes what the broker created to its disk, where this process can.
 */
export function doctorAdapters(
  link: NatsLink,
  facts: StreamFacts,
  monitorUrls: readonly string[],
  sync?: () => Promise<void>,
) {
  return {
    store: new NatsQueueStore(link, facts, sync),
    unstored: new NatsUnstoredCalls(link),
    // Of the records it writes only those of calls that were not stored.
    ledger: new NatsCallLedger(link, () => unstoredLifetime, { accepts: false }),
    catalog: new NatsQueueCatalog(link),
    leases: new NatsLeases(link),
    health: monitorUrls.length === 0 ? undefined : new NatsHealth(monitorUrls, (fault) => link.state.onHealth(fault)),
    onBrokerBack: (listener: () => void) => link.onReconnect(listener),
  };
}
