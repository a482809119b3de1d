import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** The metrics of one queue-worker; all carry `queue_name`. */
export interface WorkerMetrics {
  readonly processed: Counter<"queue_name">;
  readonly inflight: Gauge<"queue_name">;
  readonly runs: Counter<"queue_name" | "outcome">;
  readonly putBack: Counter<"queue_name" | "because">;
  readonly wait: Histogram<"queue_name">;
  readonly callbacks: Counter<"queue_name" | "outcome">;
  readonly deadLetters: Counter<"queue_name" | "reason">;
}

/** Registers the metrics of a queue-worker. */
export function buildWorkerMetrics(registry: Registry, reconnects: () => number): WorkerMetrics {
  const registers = [registry];
  const queue = ["queue_name"] as const;
  const nats: Counter = new Counter({
    name: "queue_worker_nats_reconnect_total",
    help: "Times the connection to the broker came back",
    registers,
    collect: () => {
      nats.reset();
      nats.inc(reconnects());
    },
  });
  return {
    processed: new Counter({
      name: "queue_worker_messages_processed_total",
      help: "Calls that came to their end",
      labelNames: queue,
      registers,
    }),
    inflight: new Gauge({
      name: "queue_worker_function_invocation_inflight",
      help: "Runs under way",
      labelNames: queue,
      registers,
    }),
    runs: new Counter({
      name: "queue_worker_runs_total",
      help: "Runs by outcome: done, retry, failed, cancelled, lost, handed-back",
      labelNames: ["queue_name", "outcome"],
      registers,
    }),
    putBack: new Counter({
      name: "queue_worker_put_back_total",
      help: "Deliveries put back because the owner lives or the retry is not due",
      labelNames: ["queue_name", "because"],
      registers,
    }),
    wait: new Histogram({
      name: "queue_worker_wait_seconds",
      help: "From acceptance to the first run",
      labelNames: queue,
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800],
      registers,
    }),
    callbacks: new Counter({
      name: "queue_worker_callbacks_total",
      help: "Callback attempts by outcome: sent, retry, failed",
      labelNames: ["queue_name", "outcome"],
      registers,
    }),
    deadLetters: new Counter({
      name: "queue_worker_dead_letters_total",
      help: "Calls and callbacks given up",
      labelNames: ["queue_name", "reason"],
      registers,
    }),
  };
}
