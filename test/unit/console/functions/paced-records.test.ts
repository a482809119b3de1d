import { expect, test } from "vitest";

import type { LogRecord } from "../../../../runtime/api/schemas/log-record.ts";
import { PacedRecords } from "../../../../runtime/console/pages/functions/logs/paced-records.ts";

const records = (from: number, count: number): readonly LogRecord[] =>
  Array.from({ length: count }, (_, index) => ({
    name: "pay",
    namespace: "dev",
    instance: "pay-1-0",
    timestamp: new Date(from + index).toISOString(),
    text: String(from + index),
  }));

test("records that came at once are shown by many frames, all of them and in their order", () => {
  const paced = new PacedRecords();
  paced.add(records(0, 100));
  const [shown, portions]: [string[], number[]] = [[], []];
  for (let frame = 0; paced.count > 0; frame++) {
    if (frame === 10) paced.add(records(100, 100));
    const portion = paced.ofFrame();
    shown.push(...portion.map(({ text }) => text));
    portions.push(portion.length);
  }

  expect(shown).toEqual(Array.from({ length: 200 }, (_, index) => String(index)));
  expect(Math.max(...portions)).toBeLessThanOrEqual(7);
  // No later than a moment after the last ones came.
  expect(portions.length).toBeLessThanOrEqual(10 + 36);
});

test("one record does not wait", () => {
  const paced = new PacedRecords();
  paced.add(records(0, 1));

  expect(paced.ofFrame()).toHaveLength(1);
  expect(paced.ofFrame()).toEqual([]);
});
