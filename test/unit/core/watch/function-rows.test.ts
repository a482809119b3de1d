import { describe, expect, test } from "vitest";

import type { Condition } from "../../../../runtime/api/schemas/function-status.ts";
import { desireFunction } from "../../../../runtime/core/functions/desired-function.ts";
import { FunctionRows, type WatchedFunction } from "../../../../runtime/core/watch/function-rows.ts";
import { maxRows, PendingRows, wholeRows } from "../../../../runtime/core/watch/pending-rows.ts";

const createdAt = "2026-01-31T12:00:00.000Z";
const since = Date.parse(createdAt) / 1_000;

/** Functions, their replicas and calls, as a test sets them. */
class Platform {
  readonly functions = new Map<string, WatchedFunction>();
  readonly figures = new Map<string, { finished: number; failed: number; inFlight: number }>();
  readonly rows = new FunctionRows({
    functions: () => this.functions.values(),
    calls: [{ find: (key) => this.figures.get(key) }, { find: (key) => this.figures.get(`elsewhere ${key}`) }],
  });

  deploy(name: string, namespace = "functions", ready = 1, conditions: readonly Condition[] = []): void {
    const key = `${name}.${namespace}`;
    const known = this.functions.get(key);
    const ref = known?.ref ?? { name, namespace };
    const wanted = known?.wanted ?? desireFunction(undefined, namespace, { service: name, image: "none" }, createdAt);
    const addresses = Array.from({ length: ready }, (_, index) => `10.0.0.${index}:8080`);
    const endpoints = { ...ref, addresses, observedGeneration: 1, conditions };
    this.functions.set(key, { ref, key, wanted, endpoints });
  }

  call(key: string, finished: number, failed = 0, inFlight = 0): void {
    const before = this.figures.get(key) ?? { finished: 0, failed: 0, inFlight: 0 };
    this.figures.set(key, { finished: before.finished + finished, failed: before.failed + failed, inFlight });
  }

  /** Rows that changed. */
  changed(now: number) {
    return this.rows.tick(now).changed.map(({ row }) => row);
  }
}

const idle = (key: string) => [key, 1, 1, "ready", 0, 0, 0, since];

describe("FunctionRows", () => {
  test("a first tick has all of them, the next one only what changed", () => {
    const platform = new Platform();
    platform.deploy("a");
    platform.deploy("b", "dev", 0);
    expect(platform.changed(0)).toEqual([idle("a.functions"), ["b.dev", 1, 0, "starting", 0, 0, 0, since]]);
    expect(platform.changed(1_000)).toEqual([]);
    platform.deploy("b", "dev", 1);
    expect(platform.changed(2_000)).toEqual([idle("b.dev")]);
    platform.deploy("c");
    expect(platform.changed(3_000)).toEqual([idle("c.functions")]);
  });

  test("calls of all processes count, and end in 0 again", () => {
    const platform = new Platform();
    platform.deploy("a");
    platform.call("a.functions", 100, 50);
    platform.changed(0);
    platform.call("a.functions", 3, 1, 2);
    platform.call("elsewhere a.functions", 2, 1, 1);
    expect(platform.changed(1_000)).toEqual([["a.functions", 1, 1, "ready", 5, 2, 3, since]]);
    platform.call("a.functions", 0, 0, 0);
    platform.call("elsewhere a.functions", 0, 0, 0);
    const later = Array.from({ length: 6 }, (_, index) => platform.changed((index + 2) * 1_000)).flat();
    expect(later.at(-1)).toEqual(idle("a.functions"));
    expect(platform.changed(9_000)).toEqual([]);
  });

  test("a report of a provider that says nothing new is no change", () => {
    const platform = new Platform();
    platform.deploy("a");
    platform.changed(0);
    platform.deploy("a");
    expect(platform.changed(1_000)).toEqual([]);
  });

  test("a deployment that wants more replicas is a change, though its provider reports nothing yet", () => {
    const platform = new Platform();
    platform.deploy("a");
    platform.changed(0);
    const before = platform.functions.get("a.functions");
    if (before === undefined) throw new Error("it was deployed");
    platform.functions.set("a.functions", { ...before, wanted: { ...before.wanted, replicas: 3 } });
    expect(platform.changed(1_000)).toEqual([["a.functions", 3, 1, "degraded", 0, 0, 0, since]]);
  });

  test("one that no provider reports of has no replicas", () => {
    const platform = new Platform();
    platform.deploy("a");
    const before = platform.functions.get("a.functions");
    if (before === undefined) throw new Error("it was deployed");
    platform.functions.set("a.functions", { ...before, endpoints: undefined });
    expect(platform.changed(0)).toEqual([["a.functions", 1, 0, "starting", 0, 0, 0, since]]);
  });

  test.each([
    ["calls that ended", [3, 0, 0], [3, 0, 0]],
    ["calls that fail among as many as before", [0, 2, 0], [0, 2, 0]],
    ["calls in flight", [0, 0, 4], [0, 0, 4]],
  ] as const)("%s alone are a change", (_what, [finished, failed, inFlight], columns) => {
    const platform = new Platform();
    platform.deploy("a");
    platform.call("a.functions", 0);
    platform.changed(0);
    platform.call("a.functions", finished, failed, inFlight);
    expect(platform.changed(1_000)).toEqual([["a.functions", 1, 1, "ready", ...columns, since]]);
  });

  test("what is gone is told once", () => {
    const platform = new Platform();
    platform.deploy("a");
    platform.deploy("b");
    platform.changed(0);
    platform.functions.delete("a.functions");
    const { changed, removed } = platform.rows.tick(1_000);
    expect([changed, removed.map(({ row: [key] }) => key)]).toEqual([[], ["a.functions"]]);
    expect(platform.rows.tick(2_000).removed).toEqual([]);
    expect([...platform.rows.rows.keys()]).toEqual(["b.functions"]);
  });
});

describe("PendingRows", () => {
  test("tells 500 at a time, the longest waiting first, each as it is by then", () => {
    const platform = new Platform();
    for (let index = 0; index < maxRows + 2; index += 1) platform.deploy(`f${index}`);
    const pending = new PendingRows(() => true);
    pending.add(platform.rows.tick(0));
    const first = pending.take();
    expect([first?.rows.length, first?.rows[0]?.[0], first?.removed]).toEqual([maxRows, "f0.functions", []]);
    platform.call("f0.functions", 0, 0, 1);
    platform.call(`f${maxRows}.functions`, 0, 0, 7);
    pending.add(platform.rows.tick(1_000));
    const second = pending.take();
    expect(second?.rows.map(([key, , , , , , inFlight]) => [key, inFlight])).toEqual([
      [`f${maxRows}.functions`, 7],
      [`f${maxRows + 1}.functions`, 0],
      ["f0.functions", 1],
    ]);
    expect(pending.take()).toBeUndefined();
  });

  test("one that is gone is not told as changed, nor one that came back as gone", () => {
    const platform = new Platform();
    platform.deploy("a");
    platform.deploy("b");
    const pending = new PendingRows(() => true);
    pending.add(platform.rows.tick(0));
    platform.functions.delete("a.functions");
    platform.functions.delete("b.functions");
    pending.add(platform.rows.tick(1_000));
    platform.deploy("b");
    pending.add(platform.rows.tick(2_000));
    const told = pending.take();
    expect([told?.rows.map(([key]) => key), told?.removed]).toEqual([["b.functions"], ["a.functions"]]);
  });

  test("what is gone is told once, also when another portion follows", () => {
    const platform = new Platform();
    platform.deploy("a");
    platform.deploy("b");
    const pending = new PendingRows(() => true);
    pending.add(platform.rows.tick(0));
    pending.take();
    platform.functions.delete("a.functions");
    pending.add(platform.rows.tick(1_000));
    expect(pending.take()).toEqual({ rows: [], removed: ["a.functions"] });
    platform.call("b.functions", 1);
    pending.add(platform.rows.tick(2_000));
    expect(pending.take()).toMatchObject({ rows: [{ 0: "b.functions" }], removed: [] });
  });

  test("only what its readers may see", () => {
    const platform = new Platform();
    platform.deploy("a");
    platform.deploy("b", "dev");
    const pending = new PendingRows(({ namespace }) => namespace === "dev");
    const see = (namespace: string): boolean => pending.wants({ namespace, name: "a" });
    expect([see("dev"), see("functions")]).toEqual([true, false]);
    pending.add(platform.rows.tick(0));
    expect(pending.take()?.rows.map(([key]) => key)).toEqual(["b.dev"]);
    platform.functions.clear();
    pending.add(platform.rows.tick(1_000));
    expect(pending.take()).toEqual({ rows: [], removed: ["b.dev"] });
  });
});

describe("wholeRows()", () => {
  const keysOf = (portion: { readonly rows: readonly (readonly unknown[])[]; readonly more: boolean }) => ({
    keys: portion.rows.map(([key]) => key),
    more: portion.more,
  });

  test("of nothing is one empty portion", () => {
    expect([...wholeRows(new Map(), () => true)]).toEqual([{ rows: [], more: false }]);
  });

  test("has only what its reader may see", () => {
    const platform = new Platform();
    platform.deploy("a");
    platform.deploy("b", "dev");
    platform.rows.tick(0);
    const portions = [...wholeRows(platform.rows.rows, ({ namespace }) => namespace === "dev")];
    expect(portions.map(keysOf)).toEqual([{ keys: ["b.dev"], more: false }]);
  });

  test("has portions of 500, and says where it ends", () => {
    const platform = new Platform();
    for (let index = 0; index < 2 * maxRows; index += 1) platform.deploy(`f${index}`);
    platform.rows.tick(0);
    const portions = [...wholeRows(platform.rows.rows, () => true)];
    expect(portions.map(({ rows, more }) => [rows.length, more])).toEqual([
      [maxRows, true],
      [maxRows, false],
    ]);
    expect(new Set(portions.flatMap(({ rows }) => rows.map(([key]) => key))).size).toBe(2 * maxRows);
  });

  test("is as it is when it is told: rows that changed, went and came meanwhile", () => {
    const platform = new Platform();
    for (let index = 0; index < maxRows + 2; index += 1) platform.deploy(`f${index}`);
    platform.rows.tick(0);
    const portions = wholeRows(platform.rows.rows, () => true);
    portions.next();
    platform.functions.delete(`f${maxRows}.functions`);
    platform.call(`f${maxRows + 1}.functions`, 0, 0, 3);
    platform.deploy("late");
    platform.rows.tick(1_000);
    const { value } = portions.next();
    if (value === undefined) throw new Error("there is a second portion");
    expect(keysOf(value)).toEqual({ keys: [`f${maxRows + 1}.functions`, "late.functions"], more: false });
    expect(value.rows[0]?.[6]).toBe(3);
  });
});
