import { setImmediate } from "node:timers/promises";

import { describe, expect, test } from "vitest";

import { presence } from "../../../../../runtime/core/history/rollups/presence.ts";
import type { RollupPoint } from "../../../../../runtime/core/history/rollups/rollup.ts";
import {
  RollupReporter,
  type RollupReporterParts,
} from "../../../../../runtime/core/history/reports/rollup-reporter.ts";
import type { HistoryReport } from "../../../../../runtime/core/ports/history-reports.ts";
import { eventually } from "../../../../support/eventually.ts";

const noCalls = { calls: [0, 0, 0, 0, 0], coldStarts: 0, inFlight: 0 };
const refOf = (number: number) => ({ namespace: "functions", name: `f${number}` });

class Fixture {
  readonly published: HistoryReport[] = [];
  /** An interval ends 101 ms after it begins: that is how early a timer may be. */
  now = 1_009_899;
  readonly reporter: RollupReporter;
  readonly #functions: number;

  constructor(functions: number, over: Partial<RollupReporterParts> = {}) {
    this.#functions = functions;
    this.reporter = new RollupReporter({
      reports: { publish: (report) => this.published.push(report) },
      source: "gateway-1",
      now: () => this.now,
      ...over,
    });
  }

  open(knownReplicas?: number): void {
    const views = Array.from({ length: this.#functions }, (_, number) => ({
      ref: refOf(number),
      inFlight: 0,
      knownReplicas,
    }));
    this.reporter.open(() => views);
  }

  call(number: number): void {
    this.reporter.tallyOf(`f${number}.functions`).add(200, 5, false);
  }

  get points(): readonly RollupPoint[] {
    return this.published.flatMap((report) => (report.kind === "rollup" ? report.points : []));
  }
}

describe("RollupReporter", () => {
  test("reports when an interval has ended, and then the next one", async () => {
    const fixture = new Fixture(3);
    fixture.open();
    fixture.call(1);
    fixture.now = 1_010_002;
    await eventually(() => fixture.points.length === 1, { what: "the first point" });
    expect(fixture.points[0]).toStrictEqual({
      ...refOf(1),
      source: "gateway-1",
      at: 1_000_000,
      calls: [0, 1, 0, 0, 0],
      coldStarts: 0,
      durations: [13, 1],
      inFlight: 0,
    });
    fixture.reporter.close();
  });

  test("reports at its end what was not reported yet, and nothing after it", async () => {
    const [fixture, other] = [new Fixture(2), new Fixture(1)];
    fixture.open();
    fixture.call(0);
    fixture.reporter.close();
    expect(fixture.points).toMatchObject([{ name: "f0", at: 1_000_000, calls: [0, 1, 0, 0, 0] }]);
    fixture.call(1);
    other.call(0);
    other.open();
    await eventually(() => other.points.length === 1, { what: "a report that is due later" });
    other.reporter.close();
    expect(fixture.points).toHaveLength(1);
  });

  test("divides many points into messages of 100", async () => {
    const fixture = new Fixture(2_050);
    for (let number = 0; number < 2_050; number += 1) fixture.call(number);
    fixture.open();
    await eventually(() => fixture.points.length === 2_050, { what: "all points" });
    fixture.reporter.close();
    const sizes = fixture.published.map((report) => (report.kind === "rollup" ? report.points.length : 0));
    expect(Math.max(...sizes)).toBe(100);
    expect(new Set(fixture.points.map(({ name }) => name)).size).toBe(2_050);
  });

  test("lets others have their turn after each 100 functions", async () => {
    let turns = 0;
    /** How many turns others had before each message. */
    const before: number[] = [];
    const fixture = new Fixture(450, { reports: { publish: () => before.push(turns) } });
    for (let number = 0; number < 450; number += 1) fixture.call(number);
    fixture.open();
    const others = async (): Promise<void> => {
      for (; before.length < 5; turns += 1) await setImmediate();
    };
    await others();
    fixture.reporter.close();
    expect(before.map((count) => count - (before[0] ?? 0))).toEqual([0, 1, 2, 3, 4]);
  });

  test("publishes no message without a point", () => {
    const [opened, never] = [new Fixture(3), new Fixture(3)];
    opened.open();
    opened.reporter.close();
    // A process that ends before it knows its functions has nothing to say of them.
    never.call(1);
    never.reporter.close();
    expect([opened.published, never.published]).toEqual([[], []]);
  });

  test("ends while it waits for the queued calls: it then reports once, and never again", async () => {
    const { promise, resolve } = Promise.withResolvers<ReadonlyMap<string, number> | undefined>();
    let asked = 0;
    const fixture = new Fixture(1, {
      queued: () => {
        asked += 1;
        return promise;
      },
    });
    fixture.open();
    await eventually(() => asked === 1, { what: "the report to begin" });
    fixture.call(0);
    fixture.reporter.close();
    fixture.call(0);
    resolve(new Map([["f0.functions", 7]]));
    await setImmediate();
    expect(fixture.points).toMatchObject([{ calls: [0, 1, 0, 0, 0] }]);
  });

  test("ends between two turns: what was left is reported once", async () => {
    const fixture = new Fixture(250, {
      reports: {
        publish: (report) => {
          fixture.published.push(report);
          if (fixture.published.length === 1) queueMicrotask(() => fixture.reporter.close());
        },
      },
    });
    for (let number = 0; number < 250; number += 1) fixture.call(number);
    fixture.open();
    await eventually(() => fixture.points.length === 250, { what: "all points" });
    fixture.call(249);
    await setImmediate();
    await setImmediate();
    await setImmediate();
    expect(fixture.points).toHaveLength(250);
  });

  test("asks for nothing more once it has ended", async () => {
    let asked = 0;
    const fixture = new Fixture(1, { queued: async () => void (asked += 1) });
    const other = new Fixture(1);
    fixture.open();
    fixture.reporter.close();
    other.call(0);
    other.open();
    await eventually(() => other.points.length === 1, { what: "a report that is due later" });
    other.reporter.close();
    expect(asked).toBe(0);
  });

  test("reports queued calls by function, 0 after there were some, and none where they cannot be known", async () => {
    const depths = [new Map([["f0.functions", 7]]), undefined, new Map<string, number>()];
    const fixture = new Fixture(2, {
      queued: () => {
        fixture.now += 10_000;
        return Promise.resolve(depths.shift());
      },
    });
    fixture.open();
    await eventually(() => depths.length === 0 && fixture.points.length === 2, { what: "three reports" });
    fixture.reporter.close();
    expect(fixture.points).toStrictEqual([
      { ...refOf(0), source: "gateway-1", at: 990_000, ...noCalls, queued: 7 },
      { ...refOf(0), source: "gateway-1", at: 1_010_000, ...noCalls, queued: 0 },
    ]);
  });

  test("adds replicas that it knows to points that there are anyway", () => {
    const fixture = new Fixture(2);
    fixture.open(3);
    fixture.call(1);
    fixture.reporter.close();
    expect(fixture.points).toMatchObject([{ name: "f1", replicas: 3 }]);
  });

  test("says of each interval that calls were counted in it, where that is asked for", async () => {
    const fixture = new Fixture(2, { reportsPresence: true });
    fixture.open();
    await eventually(() => fixture.points.length === 1, { what: "the first interval" });
    fixture.now += 10_000;
    fixture.reporter.close();
    const point = { ...presence, source: "gateway-1", calls: [0, 0, 0, 0, 0], coldStarts: 0 };
    expect(fixture.points).toStrictEqual([
      { ...point, at: 990_000 },
      { ...point, at: 1_010_000 },
    ]);
  });

  test("counts a function that was deployed anew from 0", () => {
    const fixture = new Fixture(1);
    fixture.open();
    fixture.call(0);
    fixture.reporter.forget("f0.functions");
    fixture.call(0);
    fixture.reporter.close();
    expect(fixture.points.map(({ calls }) => calls)).toEqual([[0, 1, 0, 0, 0]]);
  });
});
