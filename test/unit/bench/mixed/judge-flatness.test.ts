import { describe, expect, test } from "vitest";

import { judgeFlatness, settlingTime, type HoldingSample } from "../../../../bench/mixed/judge-flatness.ts";

const length = 480_000;
const base = 170_000_000;

/** A sample each second; `t` in seconds. */
function samples(of: (t: number) => Partial<Omit<HoldingSample, "at">>): HoldingSample[] {
  return Array.from({ length: length / 1_000 }, (_, t) => ({ at: t * 1_000, memory: base, descriptors: 60, ...of(t) }));
}

describe("judgeFlatness", () => {
  test("garbage that is collected is no trend", () => {
    const seen = judgeFlatness(
      samples((t) => ({ memory: base + (t % 150) * 400_000, descriptors: 60 + (t % 7) })),
      length,
    );
    expect(seen.faults).toEqual([]);
    expect(Math.abs(seen.rise)).toBeLessThan(1_000_000);
  });

  test("growth during the settling time does not count", () => {
    const settled = settlingTime(length) / 1_000;
    const seen = judgeFlatness(
      samples((t) => ({ memory: base + Math.min(t, settled) * 1_000_000, descriptors: Math.min(t, settled) })),
      length,
    );
    expect(seen.faults).toEqual([]);
  });

  test("memory that rises steadily is named, with what it adds", () => {
    const seen = judgeFlatness(
      samples((t) => ({ memory: base + t * 200_000 })),
      length,
    );
    expect(seen.faults).toEqual([expect.stringMatching(/^memory rises by 3\d\.\d MB, \d+ % an hour$/)]);
  });

  test("a rise too small for the length of the run passes", () => {
    expect(
      judgeFlatness(
        samples((t) => ({ memory: base + t * 20_000 })),
        length,
      ).faults,
    ).toEqual([]);
  });

  test("descriptors that stay open are counted", () => {
    const seen = judgeFlatness(
      samples((t) => ({ descriptors: 60 + Math.floor(t / 10) })),
      length,
    );
    expect(seen.faults).toEqual(["107 descriptors in the end, 78 before"]);
  });

  test("too few samples give no verdict", () => {
    expect(() => judgeFlatness([], length)).toThrow("only 0 samples");
  });
});
