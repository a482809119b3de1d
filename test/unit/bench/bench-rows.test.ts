import { describe, expect, test } from "vitest";

import { judge, reaches, type BenchRow, type Contest } from "../../../bench/bench-row.ts";
import { interleave, spreadOf } from "../../../bench/interleave.ts";
import { formatJson, formatTable } from "../../../bench/report.ts";

const row: BenchRow = {
  id: "P0",
  what: "an example",
  peer: "another one",
  unit: "calls/s",
  firstBar: 0.5,
  goal: 0.9,
  open: () => Promise.reject(new Error("is not opened here")),
};

/** Gives these measurements in turn, the first of each for warming up; `order` lists who was measured. */
function contestOf(weir: readonly number[], peer?: readonly number[]): Contest & { readonly order: string } {
  let order = "";
  const next = (name: string, values: readonly number[]): (() => Promise<number>) => {
    const left = values.values();
    return async () => {
      order += name;
      return left.next().value ?? Number.NaN;
    };
  };
  return {
    weir: next("W", weir),
    peer: peer === undefined ? undefined : next("P", peer),
    close: async () => {},
    get order() {
      return order;
    },
  };
}

describe("the judged value", () => {
  test("is the ratio or the difference of Weir and its peer, or Weir's measurement", () => {
    expect(judge("ratio", 30, 60)).toBe(0.5);
    expect(judge("difference", 90, 60)).toBe(30);
    expect(judge("value", 90, 60)).toBe(90);
    expect(judge("value", 90, undefined)).toBe(90);
  });
  test("needs a peer unless it is the value", () => {
    expect(() => judge("ratio", 1, undefined)).toThrow(
      "Cannot judge the ratio of Weir and its peer: the row has no peer",
    );
    expect(() => judge("difference", 1, undefined)).toThrow("Cannot judge the difference of Weir");
  });
  test("reaches a bar from above, or from below where less is better", () => {
    expect([0.4, 0.5, 0.6].map((judged) => reaches(row, judged, 0.5))).toEqual([false, true, true]);
    const latency: BenchRow = { ...row, lessIsBetter: true };
    expect([0.4, 0.5, 0.6].map((judged) => reaches(latency, judged, 0.5))).toEqual([true, true, false]);
  });
});

describe("rounds", () => {
  test("alternate after one measurement of each that does not count", async () => {
    const contest = contestOf([1, 50, 60, 70], [1, 100, 100, 100]);
    const outcome = await interleave(contest, 3, "ratio");
    expect(contest.order).toBe("PWWPPWWP");
    expect(outcome).toEqual({
      rounds: 3,
      weir: { median: 60, min: 50, max: 70 },
      peer: { median: 100, min: 100, max: 100 },
      judged: { median: 0.6, min: 0.5, max: 0.7 },
      noisy: false,
    });
  });
  test("are judged one by one, as a busy time affects both sides", async () => {
    const { judged } = await interleave(contestOf([1, 30, 130, 60], [1, 10, 100, 40]), 3, "difference");
    expect(judged).toEqual({ median: 20, min: 20, max: 30 });
  });
  test("need no peer when the value is judged", async () => {
    const contest = contestOf([9, 1, 2, 3, 4]);
    const outcome = await interleave(contest, 4, "value");
    expect(contest.order).toBe("WWWWW");
    expect(outcome).toMatchObject({ peer: undefined, judged: { median: 2.5, min: 1, max: 4 }, noisy: false });
  });
  test("fail without a peer when one is needed", async () => {
    await expect(interleave(contestOf([1, 2]), 1, "ratio")).rejects.toThrow("the row has no peer");
  });
  test("are noisy when the peer varies by more than a quarter, whatever Weir does", async () => {
    const noisyOf = async (peer: readonly number[]) =>
      (await interleave(contestOf([1, 10, 90, 50], [1, ...peer]), 3, "ratio")).noisy;
    expect(await noisyOf([90, 100, 115])).toBe(false);
    expect(await noisyOf([90, 100, 116])).toBe(true);
  });
});

test("a spread has the middle of the two middle values", () => {
  expect(spreadOf([5])).toEqual({ median: 5, min: 5, max: 5 });
  expect(spreadOf([9, 1, 3, 2])).toEqual({ median: 2.5, min: 1, max: 9 });
});

describe("the report", () => {
  const outcome = {
    rounds: 5,
    weir: { median: 61.234, min: 50, max: 70 },
    peer: { median: 100.4, min: 99, max: 101 },
    judged: { median: 0.6123, min: 0.5, max: 0.7 },
    noisy: false,
  };
  const lineOf = (...results: Parameters<typeof formatTable>[0]): string[] =>
    formatTable(results).split("\n").at(-1)?.split(/ {2,}/) ?? [];

  test("has a line with both sides, the ratio, the bars and the verdict", () => {
    const line = ["P0", "an example", "61.2 calls/s", "100 calls/s", "0.612 × (0.500 – 0.700)", "≥ 0.5", "≥ 0.9"];
    expect(lineOf({ row, outcome })).toEqual([...line, "first bar"]);
    expect(lineOf({ row, outcome: { ...outcome, noisy: true } })).toEqual([...line, "first bar, noisy"]);
  });
  test("shows a difference in the unit of the row", () => {
    const added: BenchRow = { ...row, unit: "µs", judged: "difference", lessIsBetter: true, firstBar: 60, goal: 30 };
    const judged = { median: 25.04, min: -1.26, max: 130.6 };
    const line = lineOf({ row: added, outcome: { ...outcome, judged } });
    expect(line.slice(4)).toEqual(["25.0 µs (-1.26 – 131)", "≤ 60", "≤ 30", "goal"]);
  });
  test("shows a value, and that there is no peer", () => {
    const alone: BenchRow = { ...row, unit: "MB", judged: "value", lessIsBetter: true, firstBar: 120, goal: 80 };
    const judged = { median: 121, min: 119, max: 130 };
    const line = lineOf({ row: alone, outcome: { ...outcome, weir: judged, peer: undefined, judged } });
    expect(line.slice(2)).toEqual(["121 MB", "–", "121 MB (119 – 130)", "≤ 120", "≤ 80", "missed"]);
  });
  test("says why a row was skipped", () => {
    expect(lineOf({ row, skipped: "no tool" })).toEqual(["P0", "an example", "≥ 0.5", "≥ 0.9", "skipped: no tool"]);
  });
  test("has the same facts as JSON", () => {
    const results = [
      { row, outcome },
      { row, skipped: "no tool" },
    ];
    const { machine, rows } = JSON.parse(formatJson(results, { cores: 2 }));
    expect(machine).toEqual({ cores: 2 });
    const facts = { id: "P0", judgedBy: "ratio", better: "more", firstBar: 0.5, goal: 0.9 };
    expect(rows).toMatchObject([
      { ...facts, ...outcome, verdict: "first bar" },
      { ...facts, skipped: "no tool" },
    ]);
  });
});
