import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** The metrics of the history. */
export interface HistoryMetrics {
  readonly applied: Counter;
  readonly gaps: Counter;
  readonly rows: Gauge;
  readonly bytes: Gauge<"store">;
  readonly reads: Histogram<"route">;
  readonly dropped: Counter<"what">;
  readonly followed: Gauge;
  /** Seconds that the history is behind the records; asked at each scrape. */
  lag: () => number;
  /** Whether this process writes the history; asked at each scrape. */
  leads: () => boolean;
  /** These alone, as Prometheus reads them. */
  text(): Promise<string>;
}

/** What may get lost on its way into the history. */
export const droppable = ["sync", "rollups", "records", "lines"] as const;
export type Droppable = (typeof droppable)[number];

/** Seconds; a read that takes longer than one is ended. */
const readBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];

/** Registers the metrics of the history. */
export function buildHistoryMetrics(registry: Registry): HistoryMetrics {
  const own = new Registry();
  const registers = [registry, own];
  const metrics: HistoryMetrics = {
    applied: new Counter({ name: "history_applied_total", help: "Changes of calls that were stored", registers }),
    gaps: new Counter({ name: "history_gaps_total", help: "Times of which records were missed", registers }),
    rows: new Gauge({ name: "history_rows", help: "Calls in the history", registers }),
    bytes: new Gauge({ name: "history_bytes", help: "Bytes on disk", labelNames: ["store"], registers }),
    reads: new Histogram({
      name: "history_read_seconds",
      help: "Time of the requests of gateways",
      labelNames: ["route"],
      buckets: readBuckets,
      registers,
    }),
    dropped: new Counter({
      name: "history_dropped_total",
      help: "What found no room or could not be read: sync (calls), rollups, records, lines (of logs)",
      labelNames: ["what"],
      registers,
    }),
    followed: new Gauge({
      name: "history_followed_replicas",
      help: "Replicas whose log lines are kept",
      registers,
    }),
    lag: () => 0,
    leads: () => false,
    text: () => own.metrics(),
  };
  for (const what of droppable) metrics.dropped.inc({ what }, 0);
  const lag: Gauge = new Gauge({
    name: "history_lag_seconds",
    help: "How far the history is behind the records; of the process that writes it",
    registers,
    collect: () => lag.set(metrics.lag()),
  });
  const leader: Gauge = new Gauge({
    name: "history_leader",
    help: "1 in the process that writes the history",
    registers,
    collect: () => leader.set(metrics.leads() ? 1 : 0),
  });
  return metrics;
}
