import { Counter, Gauge, type Registry } from "prom-client";

/** Counts of objects of one kind. */
export interface KindFigures {
  readonly kind: string;
  readonly objects: number;
  readonly waiting: number;
}

/** The metrics of the operator. */
export interface OperatorMetrics {
  /** Whether this operator is the leader. Called at each scrape, like `figures`; the operator sets both. */
  leads: () => boolean;
  figures: () => readonly KindFigures[];
  readonly reconciled: Counter<"kind" | "outcome">;
}

/** Registers them. */
export function buildOperatorMetrics(registry: Registry): OperatorMetrics {
  const registers = [registry];
  const metrics: OperatorMetrics = {
    leads: () => false,
    figures: () => [],
    reconciled: new Counter({
      name: "operator_reconciled_total",
      help: "Reconciles of objects by outcome: done, failed, lease-lost (the lease was lost meanwhile)",
      labelNames: ["kind", "outcome"],
      registers,
    }),
  };
  const gauge = (name: string, help: string, figure: "objects" | "waiting"): Gauge<"kind"> =>
    new Gauge({
      name,
      help,
      labelNames: ["kind"],
      registers,
      collect() {
        for (const each of metrics.figures()) this.set({ kind: each.kind }, each[figure]);
      },
    });
  const leader: Gauge = new Gauge({
    name: "operator_leader",
    help: "1 while this operator is the leader",
    registers,
    collect: () => leader.set(metrics.leads() ? 1 : 0),
  });
  gauge("operator_objects", "Objects that exist", "objects");
  gauge("operator_queued_objects", "Objects that wait to be reconciled, now or later", "waiting");
  return metrics;
}
