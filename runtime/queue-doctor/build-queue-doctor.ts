import { randomUUID } from "node:crypto";

import type { Leases } from "../core/ports/leases.ts";
import type { QueueCatalog, QueueDeclaration } from "../core/ports/queue-catalog.ts";
import type { QueueStore } from "../core/ports/queue-store.ts";
import type { Log } from "../process/log.ts";

export interface QueueDoctorParts {
  readonly store: QueueStore;
  /** Opened once the bucket it lies in is there. */
  readonly openCatalog: () => Promise<QueueCatalog>;
  readonly leases: Leases;
  /** All queues that shall be there. */
  readonly queues: readonly QueueDeclaration[];
  /** Milliseconds. */
  readonly period: number;
  readonly leaseTtl: number;
  readonly log: Log;
}

/** Keeps what queues lie in as it shall be; of several doctors one acts. */
export interface QueueDoctor {
  /** Provisions everything; must resolve before gateway and workers are of use. */
  provision(): Promise<void>;
  /** Looks again every period until `stop` aborts, and drops its lease then. */
  run(stop: AbortSignal): Promise<void>;
  /** Why the last look failed, or undefined. */
  readonly trouble: string | undefined;
}

const leaseName = "process.doctor";

/** Assembles the doctor. */
export function buildQueueDoctor(parts: QueueDoctorParts): QueueDoctor {
  const holder = randomUUID();
  let trouble: string | undefined;

  const declare = async (): Promise<void> => {
    const catalog = await parts.openCatalog();
    for (const queue of parts.queues) {
      const declared = await catalog.get(queue.name);
      if (JSON.stringify(declared) !== JSON.stringify(queue)) await catalog.put(queue);
    }
  };
  const look = async (): Promise<void> => {
    try {
      if (await parts.leases.acquire(leaseName, holder, Math.max(parts.leaseTtl, 2 * parts.period))) {
        await parts.store.maintain(parts.queues);
        await declare();
      }
      trouble = undefined;
    } catch (err) {
      trouble = err instanceof Error ? err.message : String(err);
      parts.log.warn({ err }, "cannot look after the queues");
    }
  };

  return {
    provision: async () => {
      await parts.store.provision(parts.queues);
      await declare();
    },
    run: async (stop) => {
      while (!stop.aborted) {
        await pause(parts.period, stop);
        if (!stop.aborted) await look();
      }
      await parts.leases.release(leaseName, holder).catch(() => {});
    },
    get trouble() {
      return trouble;
    },
  };
}

function pause(milliseconds: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stop.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    stop.addEventListener("abort", end);
  });
}
