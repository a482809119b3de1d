import { Leadership } from "../core/leadership.ts";
import type { Leases } from "../core/ports/leases.ts";
import type { OperatedKind } from "../core/ports/operated-kind.ts";
import type { Log } from "../process/log.ts";
import { pauseFor } from "../process/pause-for.ts";
import { inPortions } from "./in-portions.ts";
import type { OperatorMetrics } from "./operator-metrics.ts";
import { WorkQueue } from "./work-queue.ts";

/** Everything an operator works with; durations in milliseconds. */
export interface OperatorParts {
  /** In the order in which they are opened: rights before what needs them. */
  readonly kinds: readonly OperatedKind[];
  readonly leases: Leases;
  readonly leaseTtl: number;
  /** Every object is reconciled once in this time, changed or not; the objects are spread over it. */
  readonly resync: number;
  readonly workers: number;
  readonly metrics: OperatorMetrics;
  readonly log: Log;
  readonly now?: () => number;
}

/** Reconciles objects, leader-elected: only the leader acts, but all operators keep their caches filled. */
export interface BuiltOperator {
  /** Reads all objects and starts; rejects with `provider_unavailable` when they cannot be read. */
  open(): Promise<void>;
  /** Whether this operator is the leader now. */
  readonly leads: boolean;
  /** Ends after what is in flight, and releases the lease. */
  close(): Promise<void>;
}

const settle = 20;
/** Portions in which a resync adds all objects, one after the other. */
const portions = 60;

/** Assembles an operator; nothing happens before `open`. */
export function buildOperator(parts: OperatorParts): BuiltOperator {
  const { kinds, metrics, log, now = () => performance.now() } = parts;
  const stop = new AbortController();
  const leadership = new Leadership({
    leases: parts.leases,
    name: "process.operator",
    leaseTtl: parts.leaseTtl,
    now,
    pause: pauseFor,
    onChange: (leads) => {
      log.info({ leads }, leads ? "became leader" : "lost leadership");
      if (leads) addAll();
    },
    onError: (err) => log.debug({ err }, "cannot acquire the lease"),
  });
  const queues = kinds.map((kind) => {
    // A reconcile that outlasts its term does not count: all keys are added when the next term begins.
    const work = async (key: string): Promise<number | undefined> => {
      const { term } = leadership;
      if (term === undefined) return undefined;
      const again = await kind.reconcile(key);
      metrics.reconciled.inc({ kind: kind.name, outcome: leadership.term === term ? "done" : "lease-lost" });
      return again;
    };
    const failed = (): void => metrics.reconciled.inc({ kind: kind.name, outcome: "failed" });
    const queue = new WorkQueue({
      work,
      workers: parts.workers,
      debounce: settle,
      log: log.child({ kind: kind.name }),
      failed,
    });
    return { kind, queue };
  });
  const addAll = (): void => {
    for (const { kind, queue } of queues) {
      for (const key of kind.keys()) queue.revisit(key);
    }
  };
  metrics.leads = () => leadership.leads;
  metrics.figures = () =>
    queues.map(({ kind, queue }) => ({
      kind: kind.name,
      objects: new Set(kind.keys()).size,
      waiting: queue.size,
    }));
  // In portions, so that thousands of namespaces are not read at once.
  const resync = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const all = queues.flatMap(({ kind, queue }) => Array.from(kind.keys(), (key) => ({ queue, key })));
      for (const portion of inPortions(all, portions)) {
        await pauseFor(parts.resync / portions, stop.signal);
        if (!leadership.leads) continue;
        for (const { queue, key } of portion) queue.revisit(key);
      }
    }
  };
  let running: Promise<unknown> = Promise.resolve();
  return {
    open: async () => {
      for (const { kind, queue } of queues) {
        await kind.open((key) => {
          if (leadership.leads) queue.add(key);
        });
      }
      running = Promise.all([leadership.run(stop.signal), resync()]);
    },
    get leads() {
      return leadership.leads;
    },
    close: async () => {
      stop.abort();
      await Promise.all(queues.map(({ queue }) => queue.close()));
      await running;
      for (const { kind } of queues.toReversed()) await kind.close();
    },
  };
}
