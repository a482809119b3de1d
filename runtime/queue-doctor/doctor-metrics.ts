import { Counter, Gauge, type Registry } from "prom-client";

/** The metrics of the doctor. */
export interface DoctorMetrics {
  readonly orphans: Gauge<"queue_name">;
  readonly rebuilds: Counter<"queue_name" | "reason">;
  readonly unstored: Counter<"queue_name">;
  readonly healthy: Gauge;
  readonly oldest: Gauge<"queue_name">;
}

/** Value of `queue_name` for the callbacks of all queues. */
export const callbacksName = "callbacks";

/** Registers the metrics of the doctor. */
export function buildDoctorMetrics(registry: Registry): DoctorMetrics {
  const registers = [registry];
  return {
    orphans: new Gauge({
      name: "queue_doctor_orphaned_messages",
      help: "Entries that no worker can reach",
      labelNames: ["queue_name"],
      registers,
    }),
    rebuilds: new Counter({
      name: "queue_doctor_rebuilds_total",
      help: "Repairs by reason: orphaned, stalled, broker-changed, broker-restarted",
      labelNames: ["queue_name", "reason"],
      registers,
    }),
    unstored: new Counter({
      name: "queue_doctor_calls_not_stored_total",
      help: "Calls that were ended as their queue does not hold them",
      labelNames: ["queue_name"],
      registers,
    }),
    healthy: new Gauge({
      name: "queue_doctor_broker_healthy",
      help: "1 while the broker can store, 0 when it says that it cannot",
      registers,
    }),
    oldest: new Gauge({
      name: "queue_doctor_oldest_call_seconds",
      help: "Age of the oldest call in the queue; 0 when it is empty",
      labelNames: ["queue_name"],
      registers,
    }),
  };
}
