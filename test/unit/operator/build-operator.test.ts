import { Registry } from "prom-client";
import { afterEach, expect, test } from "vitest";

import { MemoryLeases } from "../../support/memory/memory-leases.ts";
import type { Leases } from "../../../runtime/core/ports/leases.ts";
import type { OperatedKind } from "../../../runtime/core/ports/operated-kind.ts";
import { buildOperator, type BuiltOperator } from "../../../runtime/operator/build-operator.ts";
import { buildOperatorMetrics } from "../../../runtime/operator/operator-metrics.ts";
import { createLog } from "../../../runtime/process/log.ts";
import { eventually } from "../../support/eventually.ts";

/** Longer than a busy machine takes to renew a lease. */
const leaseTtl = 2_000;
const never = 3_600_000;
const running = new Set<BuiltOperator>();
afterEach(async () => {
  await Promise.all([...running].map((operator) => operator.close()));
  running.clear();
});

/** What a test may set of its operator. */
interface Given {
  readonly resync?: number;
  readonly now?: () => number;
  readonly reconcile?: (key: string) => Promise<void>;
}

/** An operator of objects that two operators share; `worked` has what this one reconciled. */
async function open(leases: Leases, keys: Set<string>, { resync = never, now, reconcile }: Given = {}) {
  const worked: string[] = [];
  let notify: (key: string) => void = () => {};
  const kind: OperatedKind = {
    name: "thing",
    open: async (changed) => {
      notify = changed;
      for (const key of keys) changed(key);
    },
    keys: () => keys,
    reconcile: async (key) => {
      await reconcile?.(key);
      worked.push(key);
    },
    close: async () => {},
  };
  const registry = new Registry();
  const metrics = buildOperatorMetrics(registry);
  const log = createLog("test", "silent");
  const parts = { kinds: [kind], leases, leaseTtl, resync, workers: 2, metrics, log };
  const operator = buildOperator(now === undefined ? parts : { ...parts, now });
  running.add(operator);
  await operator.open();
  const metric = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values;
  return { operator, worked, metric, change: (key: string) => notify(key) };
}

test("of two operators one acts, and the other takes over all objects when it ends", async () => {
  const leases = new MemoryLeases();
  const keys = new Set(["a", "b"]);
  const first = await open(leases, keys);
  await eventually(() => first.worked.length === 2, { what: "all objects looked at" });
  const second = await open(leases, keys);
  keys.add("c");
  for (const each of [first, second]) each.change("c");
  await eventually(() => first.worked.includes("c"), { what: "the new object looked at" });
  expect([first.operator.leads, second.operator.leads]).toEqual([true, false]);
  expect(second.worked).toEqual([]);

  await first.operator.close();
  await eventually(() => second.worked.length === 3, { what: "the other one that acts" });
  expect(second.worked.toSorted()).toEqual(["a", "b", "c"]);
  expect(second.operator.leads).toBe(true);
  expect(first.worked.length).toBe(3);
  expect(first.operator.leads).toBe(false);
});

test("all objects are looked at from time to time, also unchanged ones", async () => {
  const { worked } = await open(new MemoryLeases(), new Set(["a", "b"]), { resync: 30 });
  await eventually(() => worked.filter((key) => key === "a").length > 2, { what: "the third look" });
  expect(worked).toContain("b");
});

test("the numbers of objects and of queued ones are those at the time of the scrape", async () => {
  const keys = new Set(["a", "b"]);
  const { worked, metric, change } = await open(new MemoryLeases(), keys);
  const figure = (value: number) => [{ labels: { kind: "thing" }, value }];
  await eventually(() => worked.length === 2, { what: "all objects looked at" });
  keys.add("c");
  change("c");
  expect([await metric("operator_objects"), await metric("operator_queued_objects")]).toEqual([figure(3), figure(1)]);
  keys.clear();
  await eventually(() => worked.length === 3, { what: "the new object looked at" });
  await eventually(async () => (await metric("operator_queued_objects"))?.[0]?.value === 0, {
    what: "none that waits",
  });
  expect(await metric("operator_objects")).toEqual(figure(0));
});

/** A lease that the test grants, and a clock that the test moves. */
function directedLease() {
  let time = 0;
  let grants = true;
  let waiting: (() => void)[] = [];
  const leases: Leases = {
    acquire: () =>
      new Promise((resolve) => {
        if (grants) resolve(true);
        else waiting.push(() => resolve(true));
      }),
    release: async () => {},
  };
  return {
    leases,
    now: () => time,
    /** The lease ends, and its renewal gets no response. */
    lapse: () => {
      grants = false;
      time += leaseTtl;
    },
    grant: () => {
      grants = true;
      for (const resolve of waiting) resolve();
      waiting = [];
    },
  };
}

test.each(["before any is worked on", "while one is worked on", "when all are done", "while all are looked at again"])(
  "a lease that lapses %s loses no object: all are done as leader",
  async (step) => {
    const keys = new Set(Array.from({ length: 12 }, (_, number) => `key ${number}`));
    const { leases, now, lapse, grant } = directedLease();
    /** Objects whose last reconciliation began and ended while this one led. */
    const done = new Set<string>();
    const held: (() => void)[] = [];
    let holds = step === "while one is worked on";
    const reconcile = async (key: string): Promise<void> => {
      const { leads } = operator;
      if (holds) await new Promise<void>((resolve) => held.push(resolve));
      if (leads && operator.leads) done.add(key);
      else done.delete(key);
    };
    if (step === "before any is worked on") lapse();
    const resync = step === "while all are looked at again" ? 30 : never;
    const { operator, metric, change } = await open(leases, keys, { now, reconcile, resync });
    const isDone = (): boolean => done.size === keys.size;
    if (step === "when all are done" || resync < never) await eventually(isDone, { what: "all objects done" });
    if (resync < never) holds = true;
    if (holds) await eventually(() => held.length === 2, { what: "objects that are worked on" });
    if (step !== "before any is worked on") lapse();
    expect(await metric("operator_leader")).toMatchObject([{ value: 0 }]);
    keys.add("new");
    for (const key of keys) change(key);
    holds = false;
    for (const resolve of held) resolve();
    await eventually(async () => (await metric("operator_queued_objects"))?.[0]?.value === 0, {
      what: "none that waits",
    });
    expect(isDone()).toBe(false);
    grant();
    await eventually(isDone, { what: "all objects done as leader" });
    expect(await metric("operator_leader")).toMatchObject([{ value: 1 }]);
  },
);
