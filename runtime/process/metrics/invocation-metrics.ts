import { Counter, Gauge, type Registry } from "prom-client";

import { CountedHistogram } from "./counted-histogram.ts";
import { DurationHistogram } from "./duration-histogram.ts";
import type { EndedCalls, InvocationCounts } from "./invocation-counts.ts";

/** The OpenFaaS family's metrics of calls and runs of functions: the sum of all counts that are shown. */
export interface InvocationMetrics {
  /** Includes `counts` from now on; the returned function ends that. */
  show(counts: InvocationCounts): () => void;
}

/**
 * Registers the metrics, once per registry; each scrape reads them from the counts, so that nothing is kept twice.
 * Gateway and queue-workers of one process share them, so that its `/metrics` has one sum.
 */
export function buildInvocationMetrics(registry: Registry): InvocationMetrics {
  const registers = [registry];
  const byCode = ["function_name", "code"] as const;
  const byFunction = ["function_name"] as const;
  const shown = new Set<InvocationCounts>();
  const ended: Counter<"function_name" | "code"> = new Counter({
    name: "gateway_function_invocation_total",
    help: "Calls and queued runs that ended, by status",
    labelNames: byCode,
    registers,
    collect: () => {
      ended.reset();
      for (const counts of shown) for (const [labels, { count }] of counts.ended()) ended.inc(labels, count);
    },
  });
  const begun: Counter<"function_name"> = new Counter({
    name: "gateway_function_invocation_started",
    help: "Calls and queued runs that began",
    labelNames: byFunction,
    registers,
    collect: () => {
      begun.reset();
      for (const counts of shown) {
        for (const [key, { finished, inFlight: running }] of counts.entries())
          begun.inc({ function_name: key }, finished + running);
      }
    },
  });
  const inFlight: Gauge<"function_name"> = new Gauge({
    name: "gateway_function_invocation_inflight",
    help: "Calls and queued runs in flight",
    labelNames: byFunction,
    registers,
    collect: () => {
      inFlight.reset();
      for (const counts of shown) {
        for (const [key, of] of counts.entries()) inFlight.inc({ function_name: key }, of.inFlight);
      }
    },
  });
  registry.registerMetric(
    new CountedHistogram({
      name: "gateway_functions_seconds",
      help: "Time that calls and queued runs took, by status; for a WebSocket, the time until it began",
      labelNames: [...byCode],
      read: () => summed(shown),
    }),
  );
  return {
    show: (counts) => {
      shown.add(counts);
      return () => shown.delete(counts);
    },
  };
}

function summed(shown: Iterable<InvocationCounts>): Iterable<EndedCalls> {
  const sums = new Map<string, EndedCalls>();
  for (const counts of shown) {
    for (const [labels, durations] of counts.ended()) {
      const key = `${labels.function_name} ${labels.code}`;
      const sum = sums.get(key) ?? [labels, new DurationHistogram()];
      sum[1].addAll(durations);
      sums.set(key, sum);
    }
  }
  return sums.values();
}
