import type { NatsLink } from "../link/nats-link.ts";
import { NatsLeases } from "../stores/nats-leases.ts";
import { NatsNamespaceStore } from "../stores/nats-namespace-store.ts";
import { NatsHistoryReports } from "./nats-history-reports.ts";
import { NatsRecordChanges } from "./nats-record-changes.ts";

/** Broker adapters of a history process; `monitorUrls` are the monitoring addresses of the broker's servers, if known. */
export function historyAdapters(link: NatsLink, inboxPrefix: string, monitorUrls: readonly string[]) {
  const [monitorUrl, ...others] = monitorUrls;
  return {
    // Of several servers, one that starts says nothing: the others accepted calls meanwhile.
    records: new NatsRecordChanges(link, { inboxPrefix, monitorUrl: others.length === 0 ? monitorUrl : undefined }),
    reports: new NatsHistoryReports(link),
    leases: new NatsLeases(link),
    namespaces: new NatsNamespaceStore(link),
  };
}
