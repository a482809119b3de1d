import { Counter, Gauge, type Registry } from "prom-client";

import type { FunctionTable } from "../../core/replicas/function-table.ts";
import { CountedHistogram } from "../../process/metrics/counted-histogram.ts";
import type { RouteCounts } from "./route-counts.ts";

export interface GatewayMetricsParts {
  readonly routes: RouteCounts;
  readonly table: FunctionTable;
  readonly reconnects: () => number;
}

/** Registers the gateway's own metrics; they are read from the counts when they are asked for, not kept twice. */
export function registerGatewayMetrics(registry: Registry, parts: GatewayMetricsParts): void {
  const registers = [registry];
  const byFunction = ["function_name"] as const;
  const desired: Gauge<"function_name"> = new Gauge({
    name: "gateway_service_count",
    help: "Replicas wanted",
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
  const least: Gauge<"function_name"> = new Gauge({
    name: "gateway_service_min",
    help: "Fewest replicas while not scaled to zero",
    labelNames: byFunction,
    registers,
    collect: () => {
      least.reset();
      for (const { key, facts } of parts.table.entries()) least.set({ function_name: key }, facts.scale.min);
    },
  });
  const target: Gauge<"function_name" | "scale_type"> = new Gauge({
    name: "gateway_service_target_load",
    help: "Load that one replica is to bear, by what it is scaled by",
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
    help: "Times the connection to the broker came back",
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
      help: "Time that requests took, by route; of a WebSocket its whole life",
      labelNames: ["path", "method", "code"],
      read: () => parts.routes.entries(),
    }),
  );
}
