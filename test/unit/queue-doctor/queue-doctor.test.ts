import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { ManualClock } from "../../support/memory/memory-clock.ts";
import { MemoryCallLedger } from "../../support/memory/memory-call-ledger.ts";
import { MemoryLeases } from "../../support/memory/memory-leases.ts";
import { MemoryQueueCatalog } from "../../support/memory/memory-queue-catalog.ts";
import { PlatformError } from "../../../runtime/api/platform-error.ts";
import type { Leases } from "../../../runtime/core/ports/leases.ts";
import type { MissingStore, QueueStore, WorkState } from "../../../runtime/core/ports/queue-store.ts";
import type { UnstoredCall, UnstoredCalls } from "../../../runtime/core/ports/unstored-calls.ts";
import { createLog, type Log } from "../../../runtime/process/log.ts";
import { buildQueueDoctor, type QueueDoctorParts } from "../../../runtime/queue-doctor/build-queue-doctor.ts";
import { buildDoctorMetrics } from "../../../runtime/queue-doctor/doctor-metrics.ts";
import { sampleCall, sampleEntry, sampleQueue, soon } from "../../contract/samples.ts";
import { eventually } from "../../support/eventually.ts";

/** A store with a state that the test sets; records what is done to it. */
class ScriptedStore implements QueueStore {
  readonly done: string[] = [];
  /** Looks begun: the round of each look before the last one is complete. */
  looks = 0;
  maintained = 0;
  missing: readonly MissingStore[] = [];
  state: Partial<WorkState> = {};
  overdue = 0;
  failing = false;

  async provision(_queues: unknown, remake: readonly string[] = []): Promise<void> {
    this.done.push(`provision ${remake.join()}`);
  }

  async maintain(): Promise<readonly MissingStore[]> {
    this.maintained += 1;
    if (this.failing) throw new PlatformError("queue_unavailable", "Cannot look: the broker is away");
    return this.missing;
  }

  async look(): Promise<readonly WorkState[]> {
    this.looks += 1;
    const still = { orphans: 0, unanswered: 0, waitingWorkers: 0, offers: 1, ackWait: 10, current: true };
    return [{ queue: "default", oldestAt: undefined, ...still, ...this.state }];
  }

  async countOverdue(): Promise<number> {
    this.done.push("inspect");
    return this.overdue;
  }

  /** What a rebuild waits for. */
  leases: Promise<void> = Promise.resolve();

  async rebuild(queue: string | undefined): Promise<void> {
    await this.leases;
    this.done.push(`rebuild ${queue ?? "callbacks"}`);
    this.state = {};
  }
}

/** Reports calls once, as the adapter does. */
class ScriptedUnstored implements UnstoredCalls {
  calls: UnstoredCall[] = [];
  restarts = 0;

  async find(): Promise<readonly UnstoredCall[]> {
    return this.calls.splice(0);
  }

  restart(): void {
    this.restarts += 1;
  }
}

let store: ScriptedStore;
let unstored: ScriptedUnstored;
let ledger: MemoryCallLedger;
let registry: Registry;
let stop: AbortController;
const running: Promise<void>[] = [];

beforeEach(() => {
  store = new ScriptedStore();
  unstored = new ScriptedUnstored();
  ledger = new MemoryCallLedger();
  registry = new Registry();
  stop = new AbortController();
});

afterEach(async () => {
  stop.abort();
  await Promise.all(running.splice(0));
});

/** Leases that do not expire, however long the machine takes. */
const stillLeases = (): MemoryLeases => new MemoryLeases(new ManualClock());

/** Such leases that record in `granted` whether each request was granted. */
function recordedLeases(leases: Leases) {
  const granted: boolean[] = [];
  const recorded: Leases = {
    acquire: async (...request) => {
      const ours = await leases.acquire(...request);
      granted.push(ours);
      return ours;
    },
    release: (...request) => leases.release(...request),
  };
  return { granted, recorded };
}

function open(over: Partial<QueueDoctorParts> = {}, catalog = new MemoryQueueCatalog()) {
  const doctor = buildQueueDoctor({
    store,
    unstored,
    ledger,
    catalog,
    leases: stillLeases(),
    queues: [sampleQueue({})],
    recreate: [],
    onBrokerBack: () => () => {},
    period: 10,
    leaseTtl: 1_000,
    times: { orphanGrace: 30, repairCooldown: 60_000 },
    metrics: over.metrics ?? buildDoctorMetrics(registry),
    log: createLog("test", "silent"),
    ...over,
  });
  running.push(doctor.run(stop.signal));
  return doctor;
}

const metric = async (name: string) => {
  const { values } = (await registry.getMetricsAsJSON()).find((each) => each.name === name) ?? { values: [] };
  return values.reduce((sum, { value }) => sum + value, 0);
};
const within = { every: 5 };

test("provisions, and recreates the stores that are named", async () => {
  await open({ recreate: ["default"] }).provision();
  expect(store.done).toEqual(["provision default"]);
});

test("a queue that is no longer declared is withdrawn, with a warning if it holds calls", async () => {
  const catalog = new MemoryQueueCatalog();
  await catalog.put(sampleQueue({ name: "reports" }));
  await catalog.put(sampleQueue({ name: "empty" }));
  store.state = { queue: "reports", oldestAt: Date.UTC(2026, 0, 2) };
  const warnings: unknown[] = [];
  const log = { ...createLog("test", "silent"), warn: (...words: unknown[]) => void warnings.push(words) } as Log;
  await open({ log }, catalog).provision();
  expect((await catalog.list()).map(({ name }) => name)).toEqual(["default"]);
  expect(warnings).toEqual([
    [
      { queue: "reports", oldest: "2026-01-02T00:00:00.000Z" },
      expect.stringMatching(/no longer declared and holds calls/),
    ],
  ]);
});

test("declares the default queue last, so whoever sees it sees all", async () => {
  const catalog = new MemoryQueueCatalog();
  const queues = [sampleQueue(), sampleQueue({ name: "bulk" }), sampleQueue({ name: "slow" })];
  const seen: string[] = [];
  await catalog.watch({ set: ({ name }) => void seen.push(name), removed: () => {}, synced: () => {} });
  await open({ queues }, catalog).provision();
  await eventually(() => seen.length === 3, { ...within, what: "all queues" });
  expect(seen.at(-1)).toBe("default");
});

test("reports what is missing until it exists again", async () => {
  store.missing = [
    { name: "default", lostCalls: 7 },
    { name: "KV_calls", lostCalls: undefined },
  ];
  const doctor = open();
  await eventually(() => doctor.problem, { ...within, what: "the alarm" });
  expect(doctor.problem).toContain('the store of "default" is missing, and with it 7 calls that waited');
  expect(doctor.problem).toContain("--recreate default");
  expect(doctor.problem).toContain('the store of "KV_calls" is missing, with all that was in there');
  store.missing = [];
  await eventually(() => doctor.problem === undefined, { ...within, what: "no alarm" });
});

test("repairs orphans once within the cooldown, and counts the repair", async () => {
  store.state = { orphans: 3 };
  open({ times: { orphanGrace: 0, repairCooldown: 3_600_000 } });
  await eventually(() => store.done.length > 0, { ...within, what: "the repair" });
  store.state = { orphans: 3 };
  const looks = store.looks;
  await eventually(() => store.looks > looks + 2, { ...within, what: "two rounds more" });
  expect(await metric("queue_doctor_orphaned_messages")).toBe(3);
  expect(store.done).toEqual(["rebuild default"]);
  expect(await metric("queue_doctor_rebuilds_total")).toBe(1);
});

test("inspects a queue that stays unanswered, and repairs it only if entries are overdue", async () => {
  store.state = { unanswered: 2, waitingWorkers: 1 };
  open();
  await eventually(() => store.done.length > 1, { ...within, what: "two closer looks" });
  expect(new Set(store.done)).toEqual(new Set(["inspect"]));
  store.overdue = 1;
  await eventually(() => store.done.includes("rebuild default"), { ...within, what: "the repair" });
});

/** Servers of which those in `full` cannot store; `found` lists each check that met one, `restarted` the restarted ones. */
function openServers(...full: string[]) {
  const found: string[] = [];
  const restarted: string[] = [];
  return {
    full,
    found,
    restarted,
    parts: {
      health: {
        fault: async () => {
          const [server] = full;
          if (server === undefined) return undefined;
          found.push(server);
          return { kind: "full" as const, server, why: "no space left on device" };
        },
      },
      servers: {
        restart: async (server: string) => {
          restarted.push(server);
          full.shift();
          return true;
        },
      },
    },
  };
}

test("has each server that cannot store restarted in turn, then repairs everything at once", async () => {
  const { restarted, parts } = openServers("nats-1", "nats-2");
  const problems: (string | undefined)[] = [];
  const restart = async (server: string): Promise<boolean> => {
    problems.push(doctor.problem);
    return parts.servers.restart(server);
  };
  const doctor = open({ ...parts, servers: { restart }, period: 500 });
  await eventually(() => store.done.includes("rebuild default"), { ...within, what: "the repair" });
  expect(restarted).toEqual(["nats-1", "nats-2"]);
  expect(problems).toEqual([
    "the broker cannot store: nats-1: no space left on device",
    "the broker cannot store: nats-2: no space left on device",
  ]);
  await eventually(() => doctor.problem === undefined, { ...within, what: "no problem" });
  expect(await metric("queue_doctor_broker_healthy")).toBe(1);
});

test("a server that stores again is no problem while the repair waits for leases, also after a look that failed", async () => {
  const { full, parts } = openServers("nats-0");
  const { promise, resolve } = Promise.withResolvers<void>();
  store.leases = promise;
  const restart = async (server: string): Promise<boolean> => {
    store.failing = true;
    return parts.servers.restart(server);
  };
  const doctor = open({ ...parts, servers: { restart } });
  await eventually(() => doctor.problem?.includes("the broker is away"), { ...within, what: "the failed look" });
  expect(full).toEqual([]);
  store.failing = false;
  await eventually(() => doctor.problem === undefined, { ...within, what: "no problem" });
  expect(store.done).toEqual([]);
  resolve();
  await eventually(() => store.done.includes("rebuild default"), { ...within, what: "the repair" });
});

test("a server that cannot store is noticed between two checks", async () => {
  const { full, restarted, parts } = openServers();
  open({ ...parts, period: 3_600_000, lookEvery: 10 });
  full.push("nats-0");
  await eventually(() => restarted.length === 1, { what: "the restart" });
});

test("reports a server that it cannot restart, and keeps checking until it can repair again", async () => {
  const { full, found, parts } = openServers("nats-0");
  store.state = { orphans: 3 };
  const doctor = open({ health: parts.health });
  await eventually(() => doctor.problem?.includes("nats-0: no space"), { ...within, what: "the alarm" });
  await eventually(() => found.length > 2, { ...within, what: "two complete checks" });
  expect(await metric("queue_doctor_broker_healthy")).toBe(0);
  expect([store.maintained, store.done]).toEqual([0, []]);
  full.shift();
  await eventually(() => store.done.length > 0, { ...within, what: "the repair" });
  expect(store.done).toEqual(["rebuild default"]);
  await eventually(() => doctor.problem === undefined, { ...within, what: "no alarm" });
  expect(await metric("queue_doctor_broker_healthy")).toBe(1);
});

test("a server that was not restarted, or did not come back, is restarted at the next look", async () => {
  const outcomes: (() => Promise<boolean>)[] = [
    async () => false,
    () => Promise.reject(new PlatformError("provider_unavailable", "Cannot restart: its pod is not ready")),
  ];
  const { full, restarted, parts } = openServers("nats-0");
  const doctor = open({
    ...parts,
    servers: { restart: (server) => outcomes.shift()?.() ?? parts.servers.restart(server) },
  });
  await eventually(() => full.length === 0, { ...within, what: "the restart" });
  expect([outcomes.length, restarted]).toEqual([0, ["nats-0"]]);
  await eventually(() => doctor.problem === undefined, { ...within, what: "no problem" });
});

describe("of two doctors", () => {
  const away = () => Promise.reject(new PlatformError("queue_unavailable", "Cannot acquire: nothing can be stored"));
  /** Leases of a broker that stores nothing while one of its servers is full. */
  const leasesOf = (leases: Leases, full: readonly string[]): Leases => ({
    acquire: (...args) => (full.length > 0 ? away() : leases.acquire(...args)),
    release: (...args) => leases.release(...args),
  });

  test("the standby leaves a server alone that cannot store", async () => {
    const { full, found, restarted, parts } = openServers();
    const leases = stillLeases();
    await leases.acquire("process.doctor", "another", 1_000);
    const { granted, recorded } = recordedLeases(leases);
    store.state = { orphans: 3 };
    const doctor = open({ ...parts, leases: leasesOf(recorded, full) });
    await eventually(() => granted.length > 0, { ...within, what: "its request for the lease" });
    full.push("nats-0");
    await eventually(() => doctor.problem?.includes("nats-0"), { ...within, what: "the alarm" });
    await eventually(() => found.length > 2, { ...within, what: "two complete checks" });
    expect(granted).not.toContain(true);
    expect([restarted, store.maintained, store.done]).toEqual([[], 0, []]);

    // It was able to act: as the leader it does.
    full.shift();
    await leases.release("process.doctor", "another");
    await eventually(() => store.done.includes("rebuild default"), { ...within, what: "the repair" });
    expect(restarted).toEqual([]);
  });

  test("the leader has it restarted, though the broker grants no lease; so does a doctor just started", async () => {
    const { full, restarted, parts } = openServers();
    open({ ...parts, leases: leasesOf(stillLeases(), full) });
    await eventually(() => store.maintained > 0, { ...within, what: "a round as the leader" });
    full.push("nats-0");
    await eventually(() => restarted.length === 1, { ...within, what: "the restart" });

    const fresh = openServers("nats-1");
    const metrics = buildDoctorMetrics(new Registry());
    open({ ...fresh.parts, leases: leasesOf(stillLeases(), fresh.full), metrics });
    await eventually(() => fresh.restarted.length === 1, { ...within, what: "the restart by the new one" });
  });
});

test("of two doctors one acts; a look that fails is reported and repeated", async () => {
  const leases = stillLeases();
  const first = open({ leases });
  await eventually(() => store.maintained > 0, { ...within, what: "a round of the first" });
  expect(first.problem).toBeUndefined();

  const { granted, recorded } = recordedLeases(leases);
  const idle = new ScriptedStore();
  idle.failing = true;
  const second = open({ store: idle, leases: recorded, metrics: buildDoctorMetrics(new Registry()) });
  store.failing = true;
  await eventually(() => first.problem?.includes("away"), { ...within, what: "the problem" });
  await eventually(() => granted.length > 2, { ...within, what: "two complete checks of the second" });
  expect(granted).not.toContain(true);
  expect([idle.maintained, idle.looks, second.problem]).toEqual([0, 0, undefined]);

  const { maintained } = store;
  store.failing = false;
  await eventually(() => first.problem === undefined, { ...within, what: "no problem" });
  expect(store.maintained).toBeGreaterThan(maintained);
});

describe("calls that no queue holds", () => {
  async function record(): Promise<UnstoredCall> {
    const { id, queue } = sampleCall();
    const created = await ledger.create(
      id,
      sampleEntry({ callback: { url: "http://a", state: "pending", attempts: 0 } }),
      soon(),
    );
    return { id, queue, revision: created.kind === "created" ? created.revision : 0 };
  }

  test("are ended as such, unless their record was written since", async () => {
    const [lost, taken] = [await record(), await record()];
    const { entry } = (await ledger.read(taken.id)) ?? expect.fail("there is no record");
    await ledger.update(taken.id, { ...entry, state: "running" }, taken.revision);
    unstored.calls.push(lost, taken, { ...lost, id: sampleCall().id });
    open();
    await eventually(async () => (await ledger.read(lost.id))?.entry.state === "failed", {
      ...within,
      what: "the end",
    });
    expect((await ledger.read(lost.id))?.entry).toMatchObject({
      reason: "not_stored",
      pending: [],
      callback: { state: "failed", error: "the queue does not hold the call" },
    });
    await eventually(() => unstored.calls.length === 0, { ...within, what: "the whole check" });
    expect((await ledger.read(taken.id))?.entry.state).toBe("running");
    expect(await metric("queue_doctor_calls_not_stored_total")).toBe(1);
  });

  test("are looked for again when the broker is back", async () => {
    let back = (): void => {};
    open({ onBrokerBack: (listener) => ((back = listener), () => {}) });
    back();
    expect(unstored.restarts).toBe(1);
  });
});
