import { randomUUID } from "node:crypto";

import type { RebuildReason, RepairTimes } from "../core/queues/decide-repair.ts";
import type { BrokerHealth, BrokerIllness } from "../core/ports/broker-health.ts";
import type { BrokerServers } from "../core/ports/broker-servers.ts";
import type { Leases } from "../core/ports/leases.ts";
import type { QueueCatalog, QueueDeclaration } from "../core/ports/queue-catalog.ts";
import type { MissingStore, QueueStore } from "../core/ports/queue-store.ts";
import type { Log } from "../process/log.ts";
import type { DoctorMetrics } from "./doctor-metrics.ts";
import { keptLease } from "./kept-lease.ts";
import { pauseFor } from "../process/pause-for.ts";
import { RepairRound } from "./repair-round.ts";

export interface QueueDoctorParts {
  readonly store: QueueStore;
  readonly catalog: QueueCatalog;
  readonly leases: Leases;
  /** All queues that shall be there. */
  readonly queues: readonly QueueDeclaration[];
  /** Queues whose store, if it went away, is made anew at this start, empty. */
  readonly recreate: readonly string[];
  /** Absent = the broker cannot be asked. */
  readonly health?: BrokerHealth | undefined;
  /** By them one that cannot store any more is restarted; absent = somebody else's business. */
  readonly servers?: BrokerServers | undefined;
  /** Calls `back` each time the connection to the broker came back; the function it gives ends that. */
  readonly onBrokerBack: (back: () => void) => () => void;
  /** Milliseconds. */
  readonly period: number;
  readonly leaseTtl: number;
  readonly times: RepairTimes;
  readonly metrics: DoctorMetrics;
  readonly log: Log;
}

/** Keeps what queues lie in as it shall be; of several doctors one acts. */
export interface QueueDoctor {
  /** Provisions everything; must resolve before gateway and workers are of use. */
  provision(): Promise<void>;
  /** Looks again every period, and soon after a restart of the broker, until `stop` aborts; drops its lease then. */
  run(stop: AbortSignal): Promise<void>;
  /** What is wrong by the last look, or why that failed; undefined = nothing. */
  readonly trouble: string | undefined;
}

const leaseName = "process.doctor";
/** A broker that was restarted is left alone for a moment; milliseconds. */
const afterRestart = 10_000;

/** Assembles the doctor. */
export function buildQueueDoctor(parts: QueueDoctorParts): QueueDoctor {
  const { store, catalog, metrics, log } = parts;
  const holder = randomUUID();
  const leaseDuration = Math.max(parts.leaseTtl, 2 * parts.period);
  const round = new RepairRound(parts);
  let trouble: string | undefined;
  /** Every store is to be mended, whatever it looks like. */
  let mendAll: RebuildReason | undefined;
  /** Another one had the lease when the broker was asked for it last. */
  let standsBy = false;

  const say = (found: string | undefined): void => {
    if (found !== undefined && found !== trouble) log.error({ trouble: found }, "the queues are in trouble");
    trouble = found;
  };
  const declare = async (): Promise<void> => {
    // The default queue, which is the first, at last: whoever sees it sees all.
    for (const queue of parts.queues.toReversed()) {
      const declared = await catalog.get(queue.name);
      if (JSON.stringify(declared) !== JSON.stringify(queue)) await catalog.put(queue);
    }
  };
  /** What is declared no more takes no new calls; those it holds stay where they are. */
  const withdraw = async (): Promise<void> => {
    const wanted = new Set(parts.queues.map(({ name }) => name));
    for (const queue of await catalog.list()) {
      if (wanted.has(queue.name)) continue;
      const held = (await store.look([queue])).find((state) => state.queue === queue.name);
      if (held?.oldestAt !== undefined)
        log.warn(
          { queue: queue.name, oldest: new Date(held.oldestAt).toISOString() },
          "a queue is declared no more and holds calls: they wait until it is declared again",
        );
      await catalog.remove(queue.name);
    }
  };
  const acquire = async (): Promise<boolean> => {
    const ours = await parts.leases.acquire(leaseName, holder, leaseDuration);
    standsBy = !ours;
    return ours;
  };
  /** Whether the server was restarted, which is for one doctor to do. */
  const restart = async ({ server }: BrokerIllness, stop: AbortSignal): Promise<boolean> => {
    const { servers } = parts;
    // A broker that stores nothing gives no lease either: whoever did not stand by acts, and nobody can take over.
    if (servers === undefined || !(await acquire().catch(() => !standsBy))) return false;
    let restarted = false;
    await keptLease(acquire, leaseDuration / 3, stop, async (kept) => {
      restarted = await servers.restart(server, kept);
    });
    if (restarted) log.warn({ server }, "restarted a server of the broker");
    return restarted;
  };
  const mend = async (stop: AbortSignal): Promise<void> => {
    const missing = await store.maintain(parts.queues);
    await declare();
    await round.go(mendAll, stop);
    mendAll = undefined;
    say(missing.length === 0 ? undefined : missing.map(missingText).join("; "));
  };
  /** Milliseconds until the next look. */
  const look = async (stop: AbortSignal): Promise<number> => {
    try {
      const illness = await parts.health?.trouble();
      metrics.healthy.set(illness === undefined ? 1 : 0);
      if (illness !== undefined) {
        say(`the broker cannot store: ${illness.server}: ${illness.why}`);
        if (!(await restart(illness, stop))) return parts.period;
        mendAll = "broker-restarted";
        return 0;
      }
      if (await acquire()) await keptLease(acquire, leaseDuration / 3, stop, mend);
      else say(undefined);
    } catch (err) {
      trouble = err instanceof Error ? err.message : String(err);
      log.warn({ err }, "cannot look after the queues");
      // What was to be mended at once is tried again at once, until the broker is there.
      if (mendAll !== undefined) return Math.min(parts.period, 1_000);
    }
    return parts.period;
  };

  return {
    provision: async () => {
      await store.provision(parts.queues, parts.recreate);
      await declare();
      await withdraw();
    },
    run: async (stop) => {
      let wake = new AbortController();
      let soon = false;
      const unhear = parts.onBrokerBack(() => {
        soon = true;
        wake.abort();
      });
      for (let wait = parts.period; !stop.aborted;) {
        await pauseFor(wait, AbortSignal.any([stop, wake.signal]));
        wake = new AbortController();
        if (soon) {
          soon = false;
          wait = Math.min(parts.period, afterRestart);
        } else if (!stop.aborted) wait = await look(stop);
      }
      unhear();
      await parts.leases.release(leaseName, holder).catch(() => {});
    },
    get trouble() {
      return trouble;
    },
  };
}

function missingText({ name, lostCalls }: MissingStore): string {
  const lost = lostCalls === undefined ? "with all that was in there" : `and with it ${lostCalls} calls that waited`;
  return `the store of "${name}" is missing, ${lost}; start the queue-doctor with --recreate ${name} to make it anew, empty`;
}
