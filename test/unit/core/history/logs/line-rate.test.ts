import { expect, test } from "vitest";

import { LineCounts, LineRate, lineRates } from "../../../../../runtime/core/history/logs/line-rate.ts";
import type { FollowedLine } from "../../../../../runtime/core/ports/kept-logs.ts";

const line = (text: string, instance = "hello-1"): FollowedLine => ({
  name: "hello",
  namespace: "functions",
  instance,
  timestamp: "2026-01-31T12:00:00.000Z",
  number: 7,
  stream: "stderr",
  text,
});
/** A rate of which `count` lines of the second at 5 s were read. */
function rateAfter(count: number): { rate: LineRate; drops: () => number } {
  let drops = 0;
  const rate = new LineRate(new LineCounts(lineRates.process), () => (drops += 1));
  for (let at = 0; at < count; at += 1) rate.take(line(`${at}\n`), 5_000 + (at % 1_000));
  return { rate, drops: () => drops };
}

test("lines of 600 seconds are counted; then those of the oldest are forgotten", () => {
  const counts = new LineCounts(1);
  for (let second = 1; second <= 600; second += 1) counts.add(second);
  counts.add(600);
  expect([1, 2, 600].map((second) => counts.hasRoom(second))).toEqual([false, false, false]);
  counts.add(601);
  expect([1, 2, 600, 601].map((second) => counts.hasRoom(second))).toEqual([true, false, false, false]);
  counts.add(602);
  expect([2, 3].map((second) => counts.hasRoom(second))).toEqual([true, false]);
});

test("of a second a function keeps 200 lines, and of the next one again", () => {
  const { rate, drops } = rateAfter(200);
  expect(drops()).toBe(0);
  expect(rate.take(line("201\n"), 5_999)).toEqual([]);
  expect(drops()).toBe(1);
  const { stream: _, ...place } = line("… 1 line was not kept\n");
  expect(rate.take(line("next\n"), 6_000)).toEqual([place, line("next\n")]);
  expect(rate.take(line("and next\n"), 6_001)).toEqual([line("and next\n")]);
});

test("of a second a process keeps 2 000 lines of all its functions", () => {
  const counts = new LineCounts(lineRates.process);
  const rates = Array.from({ length: 11 }, () => new LineRate(counts, () => {}));
  const kept = rates.map((rate) =>
    Array.from({ length: 200 }, () => rate.take(line("x"), 7_000).length).reduce((sum, one) => sum + one, 0),
  );
  expect(kept).toEqual([...Array.from({ length: 10 }, () => 200), 0]);
});

test.each([
  [12_345, "12 345"],
  [1_234_567, "1 234 567"],
  [999, "999"],
])("%i lines that were dropped are one line, by replica", (count, number) => {
  const { rate } = rateAfter(200 + count);
  rate.take(line("other\n", "hello-2"), 5_000);
  expect(rate.takeDropped().map(({ instance, text }) => [instance, text])).toEqual([
    ["hello-1", `… ${number} lines were not kept\n`],
    ["hello-2", "… 1 line was not kept\n"],
  ]);
  expect(rate.takeDropped()).toEqual([]);
});
