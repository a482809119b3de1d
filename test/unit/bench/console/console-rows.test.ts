import { expect, test } from "vitest";

import { consoleRow } from "../../../../bench/console/console-row.ts";
import { consoleRows } from "../../../../bench/console/console-rows.ts";

const row = { id: "C0", what: "an example", unit: "ms", bar: 5 } as const;

test("the figures of the console have the bars that are promised", () => {
  const bars = consoleRows.map(
    ({ id, unit, firstBar, lessIsBetter }) => `${id} ${lessIsBetter === true ? "≤" : "≥"} ${firstBar} ${unit}`,
  );
  expect(bars.join(", ")).toBe(
    [
      "C1 ≤ 70 kB, C1 ≤ 120 kB, C1 ≤ 8 kB",
      "C2 ≤ 1000 ms, C2 ≤ 1500 ms",
      "C3 ≤ 1000 ms, C3 ≤ 8 ms, C3 ≤ 50 ms, C3 ≤ 80 MB",
      "C4 ≤ 8 ms, C4 ≤ 50 ms, C4 ≤ 50 ms, C4 ≤ 100 ms",
      "C5 ≤ 1500 ms",
      "C6 ≤ 0.05 cores, C6 ≥ 0.98 calls/s, C6 ≤ 3 MB",
    ].join(", "),
  );
});

test("a figure closes what it opened, the last one first", async () => {
  let closed = "";
  const contest = await consoleRow({
    ...row,
    open: async (opened) => {
      for (const part of ["a", "b"]) opened.defer(() => void (closed += part));
      return async () => 3;
    },
  }).open();
  expect(await contest.weir()).toBe(3);
  expect(closed).toBe("");
  await contest.close();
  expect(closed).toBe("ba");
});

test("a figure that cannot be opened closes what it had opened", async () => {
  let closed = "";
  const opening = consoleRow({
    ...row,
    open: async (opened) => {
      opened.defer(() => void (closed += "a"));
      throw new Error("no browser");
    },
  }).open();
  await expect(opening).rejects.toThrow("no browser");
  expect(closed).toBe("a");
});
