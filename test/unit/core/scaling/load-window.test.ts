import fc from "fast-check";
import { expect, test } from "vitest";

import { LoadWindow } from "../../../../runtime/core/scaling/load-window.ts";

const shape = { window: 10_000, lag: 1_000 };

test("steady events have their rate at any moment of a second", () => {
  fc.assert(
    fc.property(fc.nat(5_000), fc.integer({ min: 100, max: 3_000 }), fc.nat(1_000), (start, period, events) => {
      const load = new LoadWindow(shape, start);
      let now = start;
      while (now < start + 20_000) {
        now += period;
        load.add(events, now - period, now);
      }
      // A read before the next report is about a time that was reported, up to the lag.
      const readAt = now + Math.min(period, shape.lag) - 1;
      expect(load.average(readAt)).toBeCloseTo(events / period, 6);
    }),
  );
});

test("a level is averaged over the time that it held", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ level: fc.nat(100), held: fc.integer({ min: 1, max: 4_000 }) }), { maxLength: 30 }),
      (changes) => {
        const load = new LoadWindow({ window: 10_000, lag: 0 }, 0);
        const moments: number[] = [];
        let now = 0;
        for (const { level, held } of changes) {
          load.set(level, now);
          for (let moment = 0; moment < held; moment++) moments.push(level);
          now += held;
        }
        const end = Math.floor(now / 1_000) * 1_000;
        const seen = moments.slice(Math.max(0, end - 10_000), end);
        expect(load.average(now)).toBeCloseTo(seen.reduce((sum, level) => sum + level, 0) / 10_000, 6);
      },
    ),
  );
});

test("events before the window do not count, and a level that still holds does", () => {
  const load = new LoadWindow(shape, 0);
  load.add(1_000, 0, 500);
  load.set(3, 500);
  expect(load.average(100_000)).toBeCloseTo(3, 6);
  load.set(0, 100_000);
  expect(load.average(100_000 + load.span)).toBe(0);
});

test("events over a longer time than is kept are spread over that time", () => {
  const load = new LoadWindow(shape, 0);
  load.add(1_100, 0, 100_000);
  // Eleven whole seconds are kept before 100 s, ten of them are averaged.
  expect(load.average(100_000)).toBeCloseTo(1_000 / 10_000, 6);
});

test("events of one moment count in full, and a negative amount takes away", () => {
  const load = new LoadWindow(shape, 0);
  load.add(50, 5_000, 5_000);
  load.add(-50, 4_000, 5_000);
  expect(load.average(10_000)).toBeCloseTo(0, 6);
});
