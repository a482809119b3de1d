import { describe, expect, test } from "vitest";

import { judgeDisks } from "../../../../runtime/core/doctor/judge-disks.ts";

const gibibyte = 1_073_741_824;

describe("a disk", () => {
  test.each([
    ["16 % and 16 GiB free is ok", 16 * gibibyte, 100 * gibibyte, "ok", "16.0 GiB of it (16 %) are free"],
    ["just 15 % free is ok", 15 * gibibyte, 100 * gibibyte, "ok", "15.0 GiB of it (15 %) are free"],
    [
      "a byte less than 15 % free is a problem",
      15 * gibibyte - 1,
      100 * gibibyte,
      "problem",
      "15.0 GiB of it (14 %) are free",
    ],
    ["just 1 GiB free is ok", gibibyte, 2 * gibibyte, "ok", "1.0 GiB of it (50 %) are free"],
    [
      "a byte less than 1 GiB free is a problem",
      gibibyte - 1,
      2 * gibibyte,
      "problem",
      "1.0 GiB of it (49 %) are free",
    ],
    ["nothing free is a problem", 0, 100 * gibibyte, "problem", "0.0 GiB of it (0 %) are free"],
  ])("with %s", (_name, free, total, level, sentence) => {
    const advice = level === "ok" ? {} : { advice: "make room on the disk of /data" };
    expect(judgeDisks({ value: [{ name: "data", directory: "/data", free, total }] })).toEqual([
      { id: "disk", level, subject: "disk of data", sentence, ...advice },
    ]);
  });

  test("that cannot be read is a warning", () => {
    expect(judgeDisks({ missing: "ENOENT" })).toEqual([
      {
        id: "disk",
        level: "warning",
        subject: "disk",
        sentence: "Its free space is not known (ENOENT)",
        advice: "look whether the data directory is there",
      },
    ]);
  });

  test("that is not this process's has no finding", () => {
    expect(judgeDisks({ value: [] })).toEqual([]);
  });
});
