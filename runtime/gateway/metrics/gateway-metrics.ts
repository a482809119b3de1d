import { Counter, Gauge, type Registry } from "prom-client";

import type { FunctionTable } from "../../core/replicas/function-table.ts";
import { CountedHistogram } from "../../process/metrics/counted-histogram.ts";
import type { RouteCounts } from "./route-counts.ts";

export interface GatewayMetricsParts {
  readonly routes: RouteCounts;
  readonly table: FunctionTable;
  readonly reconnects: () => number;
}

/** Registers the gateway's own metrics, which are read from the counts when they are scraped instead of kept twice. */
export function registerGatewayMetrics(registry: Registry, parts: GatewayMetricsParts): void {
  const registers = [registry];
  const byFunction = ["function_name"] as const;
  const desired: Gauge<"function_name"> = new Gauge({
    name: "gateway_service_count",
    help: "Desired replicas",
    labelNames: byFunction,
    registers,
    collect: () => {
      desired.reset();
      for (const entry of parts.table.entries()) desired.set({ function_name: entry.key }, entry.wanted.replicas);
    },
  });
  const ready: Gauge<"function_name"> = new Gauge({
    name: "gateway_service_ready_count",
    help: "Replicas that are ready",
    labelNames: byFunction,
    registers,
    collect: () => {
      ready.reset();
      for (const entry of parts.table.entries()) ready.set({ function_name: entry.key }, entry.replicas.length);
    },
  });
  const minimum: Gauge<"function_name"> = new Gauge({
    name: "gateway_service_min",
    help: "Fewest replicas while not scaled to zero",
    labelNames: byFunction,
    registers,
    collect: () => {
      minimum.reset();
      for (const { key, facts } of parts.table.entries()) minimum.set({ function_name: key }, facts.scale.min);
    },
  });
  const target: Gauge<"function_name" | "scale_type"> = new Gauge({
    name: "gateway_service_target_load",
    help: "Target load of one replica, by type of scaling",
    labelNames: ["function_name", "scale_type"],
    registers,
    collect: () => {
      target.reset();
      for (const { key, facts } of parts.table.entries())
        target.set({ function_name: key, scale_type: facts.scale.type }, facts.scale.target);
    },
  });
  const reconnects: Counter = new Counter({
    name: "gateway_nats_reconnect_total",
    help: "Reconnections to the broker",
    registers,
    collect: () => {
      reconnects.reset();
      reconnects.inc(parts.reconnects());
    },
  });
  const requests: Counter<"path" | "method" | "code"> = new Counter({
    name: "http_requests_total",
    help: "Requests that ended, by route",
    labelNames: ["path", "method", "code"],
    registers,
    collect: () => {
      requests.reset();
      for (const [labels, { count }] of parts.routes.entries()) requests.inc(labels, count);
    },
  });
  registry.registerMetric(
    new CountedHistogram({
      name: "http_request_duration_seconds",
      help: "Duration of requests, by route; of a WebSocket its whole lifetime",
      labelNames: ["path", "method", "code"],
      read: () => parts.routes.entries(),
    }),
  );
}
