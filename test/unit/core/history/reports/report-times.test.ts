import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { ReportTimes } from "../../../../../runtime/core/history/reports/report-times.ts";

const length = 10_000;

describe("ReportTimes", () => {
  test("names the interval that has ended, whether the timer is early or late", () => {
    for (const now of [1_000_000, 999_999, 999_901, 1_000_007, 1_006_000])
      expect(new ReportTimes("gateway-1").ended(now)).toEqual({ source: "gateway-1", at: 990_000 });
    expect(new ReportTimes("gateway-1").ended(1_012_000).at).toBe(1_000_000);
  });

  test("names the interval that the end of the process is in", () => {
    const times = new ReportTimes("gateway-1");
    times.ended(1_000_003);
    expect(times.current(1_000_004)).toEqual({ source: "gateway-1", at: 1_000_000 });
  });

  test("waits for the end of the next interval, after an early timer, too", () => {
    const times = new ReportTimes("gateway-1");
    expect(times.wait(1_000_003)).toBe(9_997);
    expect(times.wait(999_999)).toBe(10_001);
    expect(times.wait(1_008_000)).toBe(2_000);
  });

  test("goes on under another name when the clock was set back", () => {
    const times = new ReportTimes("gateway-1");
    times.ended(1_000_000);
    expect(times.ended(700_000)).toEqual({ source: "gateway-1.2", at: 690_000 });
    expect(times.ended(710_000)).toEqual({ source: "gateway-1.2", at: 700_000 });
    expect(times.ended(710_001)).toEqual({ source: "gateway-1.3", at: 700_000 });
  });

  test("never names an interval twice, and each is a multiple of 10 s", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1_000_000, max: 1_500_000 })), (clock) => {
        const times = new ReportTimes("gateway-1");
        const named = clock.map((now, index) => (index % 5 === 4 ? times.current(now) : times.ended(now)));
        expect(new Set(named.map(({ source, at }) => `${source} ${at}`)).size).toBe(named.length);
        expect(named.every(({ at }) => at % length === 0)).toBe(true);
        expect(clock.every((now) => times.wait(now) > 0 && times.wait(now) <= length + 100)).toBe(true);
      }),
    );
  });
});
