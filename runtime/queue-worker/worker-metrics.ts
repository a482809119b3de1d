import { Counter, Gauge, Histogram, type Registry } from "prom-client";

import type { QueueDepths, QueueStates } from "../core/ports/queue-states.ts";

/** The metrics of the queue-workers of one process; all carry `queue_name`. */
export interface WorkerMetrics {
  readonly processed: Counter<"queue_name">;
  readonly inflight: Gauge<"queue_name">;
  readonly runs: Counter<"queue_name" | "outcome">;
  readonly requeue: Counter<"queue_name" | "reason">;
  readonly wait: Histogram<"queue_name">;
  readonly callbacks: Counter<"queue_name" | "outcome">;
  readonly deadLetters: Counter<"queue_name" | "reason">;
  readonly droppedRequests: Counter<"queue_name">;
  /** From now on the figures of this queue are read at each scrape, until the returned function is called. */
  watch(queue: string, sources: WatchedQueue): () => void;
}

/** Sources of a queue's figures that are not counted in this process. */
export interface WatchedQueue {
  readonly states: QueueStates;
  /** How many times the connection to the broker came back. */
  readonly reconnects: () => number;
}

/** Registers the metrics of queue-workers, once per registry. */
export function buildWorkerMetrics(registry: Registry): WorkerMetrics {
  const registers = [registry];
  const queue = ["queue_name"] as const;
  const watched = new Map<string, WatchedQueue>();
  const nats: Counter<"queue_name"> = new Counter({
    name: "queue_worker_nats_reconnect_total",
    help: "Times the connection to the broker came back",
    labelNames: queue,
    registers,
    collect: () => {
      nats.reset();
      for (const [name, { reconnects }] of watched) nats.inc({ queue_name: name }, reconnects());
    },
  });
  let asked: Promise<readonly QueueFigures[] | undefined> | undefined;
  const ask = () => (asked ??= figuresOf(watched).finally(() => (asked = undefined)));
  const submitted: Counter<"queue_name"> = new Counter({
    name: "queue_worker_messages_submitted_total",
    help: "Calls that were ever put into the queue",
    labelNames: queue,
    registers,
    collect: async () => {
      const figures = await ask();
      if (figures === undefined) return;
      submitted.reset();
      for (const found of figures) submitted.inc({ queue_name: found.queue }, found.submitted);
    },
  });
  const pending: Gauge<"queue_name" | "function_name"> = new Gauge({
    name: "queue_worker_pending_messages",
    help: "Calls in the queue that are not over, by function",
    labelNames: ["queue_name", "function_name"],
    registers,
    collect: async () => {
      const figures = await ask();
      if (figures === undefined) return;
      pending.reset();
      for (const found of figures) {
        for (const [key, calls] of found.byFunction)
          pending.set({ queue_name: found.queue, function_name: key }, calls);
      }
    },
  });
  return {
    watch: (name, sources) => {
      watched.set(name, sources);
      return () => watched.delete(name);
    },
    processed: new Counter({
      name: "queue_worker_messages_processed_total",
      help: "Calls that ended",
      labelNames: queue,
      registers,
    }),
    inflight: new Gauge({
      name: "queue_worker_function_invocation_inflight",
      help: "Runs in flight",
      labelNames: queue,
      registers,
    }),
    runs: new Counter({
      name: "queue_worker_runs_total",
      help: "Runs by outcome: done, retry, failed, cancelled, lost, handed-back",
      labelNames: ["queue_name", "outcome"],
      registers,
    }),
    requeue: new Counter({
      name: "queue_worker_requeued_total",
      help: "Deliveries requeued by cause: lease-held, not-due, no-record, callbacks-full",
      labelNames: ["queue_name", "reason"],
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
    droppedRequests: new Counter({
      name: "queue_worker_requests_dropped_total",
      help: "Requests of ended calls that were to be kept for a replay, and could not be stored",
      labelNames: queue,
      registers,
    }),
  };
}

interface QueueFigures extends QueueDepths {
  readonly queue: string;
}

/** Undefined when the broker does not reply: the figures then keep their last values. */
async function figuresOf(watched: ReadonlyMap<string, WatchedQueue>): Promise<readonly QueueFigures[] | undefined> {
  try {
    return await Promise.all(
      [...watched].map(async ([queue, { states }]) => ({ queue, ...(await states.depths(queue)) })),
    );
  } catch {
    return undefined;
  }
}
