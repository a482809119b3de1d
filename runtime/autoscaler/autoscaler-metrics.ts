import { Counter, Gauge, type Registry } from "prom-client";

/** The metrics of the autoscaler. */
export interface AutoscalerMetrics {
  /** Whether this autoscaler is the leader. Called at each scrape; the autoscaler sets it. */
  leads: () => boolean;
  /** Functions by the last decision about them. */
  readonly functions: Gauge<"reason">;
  readonly changes: Counter<"reason">;
  readonly sweep: Gauge;
}

/** Registers the metrics of the autoscaler. */
export function buildAutoscalerMetrics(registry: Registry): AutoscalerMetrics {
  const registers = [registry];
  const metrics: AutoscalerMetrics = {
    leads: () => false,
    functions: new Gauge({
      name: "autoscaler_functions",
      help: "Functions by the last decision about them",
      labelNames: ["reason"],
      registers,
    }),
    changes: new Counter({
      name: "autoscaler_changes_total",
      help: "Changes of replicas by reason: idle, below-min, above-max, load-rose, load-fell",
      labelNames: ["reason"],
      registers,
    }),
    sweep: new Gauge({
      name: "autoscaler_sweep_seconds",
      help: "Time that the last sweep over all functions took",
      registers,
    }),
  };
  const leader: Gauge = new Gauge({
    name: "autoscaler_leader",
    help: "1 while this autoscaler is the leader",
    registers,
    collect: () => leader.set(metrics.leads() ? 1 : 0),
  });
  return metrics;
}

/** Sets the number of functions by the decisions of one sweep. */
export function tellDecisions(metrics: AutoscalerMetrics, counts: ReadonlyMap<string, number>): void {
  metrics.functions.reset();
  for (const [reason, count] of counts) metrics.functions.set({ reason }, count);
}
