import { Counter, Gauge, type Registry } from "prom-client";

/** How much there is of one kind. */
export interface KindFigures {
  readonly kind: string;
  readonly objects: number;
  readonly waiting: number;
}

/** The metrics of the operator. */
export interface OperatorMetrics {
  /** Whether this one acts. Asked at each scrape, as are the figures; the operator puts its own here. */
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
      help: "Looks at objects by their outcome: done, failed, lapsed (the lease was lost meanwhile)",
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
    help: "1 while this operator acts",
    registers,
    collect: () => leader.set(metrics.leads() ? 1 : 0),
  });
  gauge("operator_objects", "Objects that are there", "objects");
  gauge("operator_queued_objects", "Objects that are to be looked at, now or at a time", "waiting");
  return metrics;
}
