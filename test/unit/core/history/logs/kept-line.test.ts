import { describe, expect, test } from "vitest";

import { cutLine, keptLineMax } from "../../../../../runtime/core/history/logs/cut-line.ts";
import { isCovered, LineNumbers } from "../../../../../runtime/core/history/logs/line-numbers.ts";
import { LineCounts, LineRate, lineRates } from "../../../../../runtime/core/history/logs/line-rate.ts";
import {
  compareLogMoments,
  formatLogMoment,
  parseLogMoment,
} from "../../../../../runtime/core/history/logs/log-moment.ts";
import type { FollowedLine } from "../../../../../runtime/core/ports/kept-logs.ts";

const hello = { namespace: "functions", name: "hello" };
const start = Date.parse("2026-01-31T12:00:00Z");
const line = (text: string, instance = "a"): FollowedLine => ({
  ...hello,
  instance,
  timestamp: formatLogMoment({ at: start, nanos: 0 }),
  text: `${text}\n`,
  number: 0,
});

describe("a time", () => {
  test.each([
    ["2026-01-31T12:00:00.123456789Z", { at: start + 123, nanos: 456_789 }, "2026-01-31T12:00:00.123456789Z"],
    ["2026-01-31T12:00:00Z", { at: start, nanos: 0 }, "2026-01-31T12:00:00.000000000Z"],
    ["2026-01-31T12:00:00.5Z", { at: start + 500, nanos: 0 }, "2026-01-31T12:00:00.500000000Z"],
    ["2026-01-31T12:00:00.1234Z", { at: start + 123, nanos: 400_000 }, "2026-01-31T12:00:00.123400000Z"],
  ])("%s", (timestamp, moment, formatted) => {
    expect(parseLogMoment(timestamp)).toEqual(moment);
    expect(formatLogMoment(moment)).toBe(formatted);
  });

  test("is undefined if it is none", () => expect(parseLogMoment("yesterday")).toBeUndefined());

  test("is earlier by its milliseconds, then by its nanoseconds", () => {
    const moments = [
      { at: start, nanos: 500 },
      { at: start + 1, nanos: 2 },
      { at: start + 1, nanos: 30 },
      { at: start + 2, nanos: 1 },
    ];
    expect(moments.toReversed().sort(compareLogMoments)).toEqual(moments);
    expect(moments.map((moment) => compareLogMoments(moment, { ...moment }))).toEqual([0, 0, 0, 0]);
  });
});

describe("a line", () => {
  test("of 16 KiB is kept whole, with one newline", () => {
    const text = "x".repeat(keptLineMax);
    expect(cutLine(`${text}\n`)).toBe(`${text}\n`);
    expect(cutLine("without")).toBe("without\n");
  });

  test("over 16 KiB is cut between characters, and says how much it lacks", () => {
    const cut = cutLine(`${"x".repeat(keptLineMax - 1)}€uro\n`);
    expect(cut).toBe(`${"x".repeat(keptLineMax - 1)} [cut: 6 bytes were not kept]\n`);
  });

  test("has a number among those of its replica with the same time", () => {
    const numbers = new LineNumbers();
    const read = [line("1"), line("2"), line("1", "b"), line("3")].map((one) => numbers.next(one));
    expect(read.map((next) => next?.line.number)).toEqual([0, 1, 0, 2]);
    const [, second, , third] = read.map((next) => next?.position);
    expect(second !== undefined && isCovered(second, second)).toBe(true);
    expect(third !== undefined && isCovered(third, second)).toBe(false);
    expect(second !== undefined && isCovered(second, undefined)).toBe(false);
  });

  test("at a later time is again the first of its time", () => {
    const numbers = new LineNumbers();
    const times = [0, 0, 1, 1, 1, 2].map((nanos) => formatLogMoment({ at: start, nanos }));
    const read = times.map((timestamp) => numbers.next({ ...line("x"), timestamp })?.position.number);
    expect(read).toEqual([0, 1, 0, 1, 2, 0]);
  });

  test("has no number if its time cannot be read", () => {
    const numbers = new LineNumbers();
    numbers.next(line("1"));
    expect(numbers.next({ ...line("2"), timestamp: "yesterday" })).toBeUndefined();
  });

  test("of an earlier time was kept before, whatever its number", () => {
    const kept = { at: start, nanos: 5, number: 0 };
    expect(isCovered({ at: start, nanos: 4, number: 9 }, kept)).toBe(true);
    expect(isCovered({ at: start, nanos: 6, number: 0 }, kept)).toBe(false);
  });
});

describe("the rate of lines", () => {
  const many = (rate: LineRate, count: number, at: number, instance = "a"): FollowedLine[] =>
    Array.from({ length: count }, (_, index) => rate.take(line(`${index}`, instance), at)).flat();

  test("200 lines of a second pass; one line stands for the others, before the next that passes", () => {
    let drops = 0;
    const rate = new LineRate(new LineCounts(lineRates.process), () => (drops += 1));
    expect(many(rate, 1_404, start)).toHaveLength(200);
    expect(drops).toBe(1_204);
    const [standIn, next, ...others] = rate.take(line("next"), start + 1_000);
    expect([standIn?.text, next?.text, others]).toEqual(["… 1 204 lines were not kept\n", "next\n", []]);
    expect(rate.takeDropped()).toEqual([]);
  });

  test("each replica has its own line for those that were dropped", () => {
    const rate = new LineRate(new LineCounts(lineRates.process), () => {});
    many(rate, 200, start);
    many(rate, 1, start, "a");
    many(rate, 2, start, "b");
    expect(rate.takeDropped().map(({ instance, text }) => [instance, text])).toEqual([
      ["a", "… 1 line was not kept\n"],
      ["b", "… 2 lines were not kept\n"],
    ]);
    expect(rate.takeDropped()).toEqual([]);
  });

  test("all functions together have 2 000", () => {
    const counts = new LineCounts(lineRates.process);
    const passed = Array.from({ length: 12 }, () => many(new LineRate(counts, () => {}), 200, start).length);
    expect(passed).toEqual([...Array.from({ length: 10 }, () => 200), 0, 0]);
  });

  test("a log that is read late is limited by the time of its lines", () => {
    const rate = new LineRate(new LineCounts(lineRates.process), () => {});
    const seconds = Array.from({ length: 700 }, (_, second) => many(rate, 20, start + second * 1_000).length);
    expect(new Set(seconds)).toEqual(new Set([20]));
  });
});
