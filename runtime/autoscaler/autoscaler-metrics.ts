import { Counter, Gauge, type Registry } from "prom-client";

/** The metrics of the autoscaler. */
export interface AutoscalerMetrics {
  /** Whether this one acts. Asked at each scrape; the autoscaler puts its own here. */
  leads: () => boolean;
  /** Functions by the last decision about them. */
  readonly functions: Gauge<"reason">;
  readonly changes: Counter<"reason">;
  readonly sweep: Gauge;
}

/** Registers them. */
export function buildAutoscalerMetrics(registry: Registry): AutoscalerMetrics {
  const registers = [registry];
  const metrics: AutoscalerMetrics = {
    leads: () => false,
    functions: new Gauge({
      name: "autoscaler_functions",
      help: "Functions by what was decided about them last",
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
      help: "Time that the last look at all functions took",
      registers,
    }),
  };
  const leader: Gauge = new Gauge({
    name: "autoscaler_leader",
    help: "1 while this autoscaler acts",
    registers,
    collect: () => leader.set(metrics.leads() ? 1 : 0),
  });
  return metrics;
}

/** Tells how many functions there are by what was decided in one sweep. */
export function tellDecisions(metrics: AutoscalerMetrics, counts: ReadonlyMap<string, number>): void {
  metrics.functions.reset();
  for (const [reason, count] of counts) metrics.functions.set({ reason }, count);
}
