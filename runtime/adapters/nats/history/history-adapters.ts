import type { NatsLink } from "../link/nats-link.ts";
import { NatsKeptRequests } from "../records/nats-kept-requests.ts";
import { NatsLeases } from "../stores/nats-leases.ts";
import { NatsNamespaceStore } from "../stores/nats-namespace-store.ts";
import { NatsHistoryReports } from "./nats-history-reports.ts";
import { NatsLetterFacts } from "./nats-letter-facts.ts";
import { NatsRecordChanges } from "./nats-record-changes.ts";

/** Broker adapters of a history process; `monitorUrls` are the monitoring addresses of the broker's servers, if known. */
export function historyAdapters(link: NatsLink, inboxPrefix: string, monitorUrls: readonly string[]) {
  const [monitorUrl, ...others] = monitorUrls;
  return {
    // Of several servers, one that starts says nothing: the others accepted calls meanwhile.
    records: new NatsRecordChanges(link, { inboxPrefix, monitorUrl: others.length === 0 ? monitorUrl : undefined }),
    reports: new NatsHistoryReports(link),
    letters: new NatsLetterFacts(link, inboxPrefix),
    requests: new NatsKeptRequests(link),
    leases: new NatsLeases(link),
    namespaces: new NatsNamespaceStore(link),
  };
}
