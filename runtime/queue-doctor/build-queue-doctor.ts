import { randomUUID } from "node:crypto";

import type { RebuildReason } from "../core/queues/decide-repair.ts";
import type { BrokerHealth, BrokerFault } from "../core/ports/broker-health.ts";
import type { BrokerServers } from "../core/ports/broker-servers.ts";
import type { Leases } from "../core/ports/leases.ts";
import type { QueueCatalog } from "../core/ports/queue-catalog.ts";
import type { MissingStore } from "../core/ports/queue-store.ts";
import { keptLease } from "./kept-lease.ts";
import { pauseFor } from "../process/pause-for.ts";
import type { CallLedger } from "../core/ports/call-ledger.ts";
import type { UnstoredCalls } from "../core/ports/unstored-calls.ts";
import { endUnstored } from "./end-unstored.ts";
import { RepairRound, type RepairParts } from "./repair-round.ts";

export interface QueueDoctorParts extends RepairParts {
  readonly catalog: QueueCatalog;
  readonly leases: Leases;
  /** Queues whose store, if it is gone, is recreated, empty, at this start. */
  readonly recreate: readonly string[];
  /** Absent = the broker's health cannot be checked. */
  readonly health?: BrokerHealth | undefined;
  /** Finds calls that no queue holds, and their records. */
  readonly unstored: UnstoredCalls;
  readonly ledger: Pick<CallLedger, "read" | "update" | "now">;
  /** Restarts a server that cannot store any more; absent = restarting is left to others. */
  readonly servers?: BrokerServers | undefined;
  /** Calls `back` each time the connection to the broker comes back, until the returned function is called. */
  readonly onBrokerBack: (back: () => void) => () => void;
  /** Milliseconds. */
  readonly period: number;
  /** Milliseconds between two looks at whether the servers can store, without which no call is accepted; 5 s when absent. */
  readonly lookEvery?: number;
  readonly leaseTtl: number;
}

/** Keeps the stores of the queues in their desired state. Leader-elected: of several doctors one acts. */
export interface BuiltQueueDoctor {
  /** Provisions everything; gateways and workers are of no use before it resolves. */
  provision(): Promise<void>;
  /** Checks every period, and soon after a restart of the broker, until `stop` aborts; then releases its lease. */
  run(stop: AbortSignal): Promise<void>;
  /** What the last check found wrong, or why it failed; undefined = nothing. */
  readonly problem: string | undefined;
}

const leaseName = "process.doctor";
/** Delay of the next check after the broker came back, milliseconds. */
const afterRestart = 10_000;
const defaultLook = 5_000;

/** Assembles the doctor. */
export function buildQueueDoctor(parts: QueueDoctorParts): BuiltQueueDoctor {
  const { store, catalog, metrics, log, lookEvery = defaultLook } = parts;
  const holder = randomUUID();
  const leaseDuration = Math.max(parts.leaseTtl, 2 * parts.period);
  const round = new RepairRound(parts);
  let problem: string | undefined;
  /** A server that cannot store; it is over as soon as none reports that, whatever is still to be repaired. */
  let faulty: string | undefined;
  /** Why every store is to be repaired, whatever its state. */
  let repairAll: RebuildReason | undefined;
  /** Another doctor had the lease when it was last asked for. */
  let standsBy = false;

  const logNew = (found: string | undefined, known: string | undefined): void => {
    if (found !== undefined && found !== known) log.error({ reason: found }, "the queues are unavailable");
  };
  const report = (found: string | undefined): void => {
    logNew(found, problem);
    problem = found;
  };
  const declare = async (): Promise<void> => {
    // The default queue is the first of them and is declared last: a reader that sees it sees all.
    for (const queue of parts.queues.toReversed()) {
      const declared = await catalog.get(queue.name);
      if (JSON.stringify(declared) !== JSON.stringify(queue)) await catalog.put(queue);
    }
  };
  /** A queue that is no longer declared takes no new calls; those it holds stay in its store. */
  const withdraw = async (): Promise<void> => {
    const wanted = new Set(parts.queues.map(({ name }) => name));
    for (const queue of await catalog.list()) {
      if (wanted.has(queue.name)) continue;
      const held = (await store.look([queue])).find((state) => state.queue === queue.name);
      if (held?.oldestAt !== undefined)
        log.warn(
          { queue: queue.name, oldest: new Date(held.oldestAt).toISOString() },
          "a queue is no longer declared and holds calls: they wait until it is declared again",
        );
      await catalog.remove(queue.name);
    }
  };
  const acquire = async (): Promise<boolean> => {
    const ours = await parts.leases.acquire(leaseName, holder, leaseDuration);
    standsBy = !ours;
    return ours;
  };
  /** Restarts the server, which only one doctor may do; true when it was restarted. */
  const restart = async ({ server }: BrokerFault, stop: AbortSignal): Promise<boolean> => {
    const { servers } = parts;
    // A broker that cannot store grants no lease either: the doctor that did not stand by acts, and none can take over.
    if (servers === undefined || !(await acquire().catch(() => !standsBy))) return false;
    let restarted = false;
    await keptLease(acquire, leaseDuration / 3, stop, async (signal) => {
      restarted = await servers.restart(server, signal);
    });
    if (restarted) log.warn({ server }, "restarted a server of the broker");
    return restarted;
  };
  const repair = async (stop: AbortSignal): Promise<void> => {
    const missing = await store.maintain(parts.queues);
    await declare();
    // Before the repairs, which wait for the leases of calls: meanwhile calls are accepted.
    report(missing.length === 0 ? undefined : missing.map(missingText).join("; "));
    await round.go(repairAll, stop);
    repairAll = undefined;
    if (!stop.aborted) await endUnstored(parts);
  };
  /** Waits until the next check is due, or a server cannot store. */
  const pauseBetween = async (wait: number, signal: AbortSignal): Promise<void> => {
    for (const until = performance.now() + wait; !signal.aborted;) {
      const left = until - performance.now();
      if (left <= lookEvery) return pauseFor(left, signal);
      await pauseFor(lookEvery, signal);
      if ((await parts.health?.fault()) !== undefined) return;
    }
  };
  /** One check; resolves with the milliseconds until the next one. */
  const check = async (stop: AbortSignal): Promise<number> => {
    try {
      const fault = await parts.health?.fault();
      metrics.healthy.set(fault === undefined ? 1 : 0);
      const found = fault === undefined ? undefined : `the broker cannot store: ${fault.server}: ${fault.why}`;
      logNew(found, faulty);
      faulty = found;
      if (fault !== undefined) {
        if (!(await restart(fault, stop))) return parts.period;
        repairAll = "broker-restarted";
        return 0;
      }
      if (await acquire()) await keptLease(acquire, leaseDuration / 3, stop, repair);
      else report(undefined);
    } catch (err) {
      problem = err instanceof Error ? err.message : String(err);
      log.warn({ err }, "cannot check the queues");
      // A repair that is due at once is retried soon, until the broker is available.
      if (repairAll !== undefined) return Math.min(parts.period, 1_000);
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
      const unsubscribe = parts.onBrokerBack(() => {
        parts.unstored.restart();
        soon = true;
        wake.abort();
      });
      for (let wait = parts.period; !stop.aborted;) {
        await pauseBetween(wait, AbortSignal.any([stop, wake.signal]));
        wake = new AbortController();
        if (soon) {
          soon = false;
          wait = Math.min(parts.period, afterRestart);
        } else if (!stop.aborted) wait = await check(stop);
      }
      unsubscribe();
      await parts.leases.release(leaseName, holder).catch(() => {});
    },
    get problem() {
      return faulty ?? problem;
    },
  };
}

function missingText({ name, lostCalls }: MissingStore): string {
  const lost = lostCalls === undefined ? "with all that was in there" : `and with it ${lostCalls} calls that waited`;
  return `the store of "${name}" is missing, ${lost}; start the queue-doctor with --recreate ${name} to recreate it, empty`;
}
