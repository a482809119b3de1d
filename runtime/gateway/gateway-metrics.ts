import { Counter, Gauge, type Registry } from "prom-client";

import type { FunctionTable } from "../core/function-table.ts";
import type { InvocationCounts } from "./invocation/invocation-counts.ts";

export interface GatewayMetricsParts {
  readonly counts: InvocationCounts;
  readonly table: FunctionTable;
  readonly reconnects: () => number;
}

/** Registers the gateway's metrics; they are read from the counts when they are asked for, not kept twice. */
export function registerGatewayMetrics(registry: Registry, parts: GatewayMetricsParts): void {
  const registers = [registry];
  const byCode = ["function_name", "code"] as const;
  const byFunction = ["function_name"] as const;
  const invocations: Counter<"function_name" | "code"> = new Counter({
    name: "gateway_function_invocation_total",
    help: "Synchronous calls that ended, by status",
    labelNames: byCode,
    registers,
    collect: () => {
      invocations.reset();
      for (const [key, counts] of parts.counts.entries()) {
        for (const [status, calls] of counts.byStatus())
          invocations.inc({ function_name: key, code: String(status) }, calls);
      }
    },
  });
  const inFlight: Gauge<"function_name"> = new Gauge({
    name: "gateway_function_invocation_inflight",
    help: "Synchronous calls under way",
    labelNames: byFunction,
    registers,
    collect: () => {
      inFlight.reset();
      for (const [key, counts] of parts.counts.entries()) inFlight.set({ function_name: key }, counts.inFlight);
    },
  });
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
  const reconnects: Counter = new Counter({
    name: "gateway_nats_reconnect_total",
    help: "Times the connection to the broker came back",
    registers,
    collect: () => {
      reconnects.reset();
      reconnects.inc(parts.reconnects());
    },
  });
}
