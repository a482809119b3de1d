import { expect, test } from "vitest";

import { scaleRules } from "../../../../runtime/core/scaling/scale-rules.ts";
import { drawRuns } from "../../../../bench/scaling/draw-run.ts";

test("a picture of two busy functions has titles and units, colours for light and dark, and stays below 60 KB", () => {
  const rules = scaleRules({ "com.service.scale.type": "queue" });
  const calls = Array.from({ length: 2_000 }, (_, index) => ({
    due: index * 20,
    begin: index * 20,
    end: index * 21,
    latency: index,
  }));
  const samples = Array.from({ length: 160 }, (_, index) => ({ at: index * 250, desired: index % 5, ready: 1 }));
  const run = { name: "one", rules, length: 40_000, calls, samples, cpu: [] };
  const svg = drawRuns("queue-duel", [run, { ...run, name: "two" }], { period: 500, window: 2_000 });
  for (const text of ["queue-duel: one", "queue-duel: two", "calls in the queue", "latency, ms", "calls per second"]) {
    expect(svg).toContain(text);
  }
  expect(svg).toContain("prefers-color-scheme:dark");
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  expect(svg.length).toBeLessThan(60_000);
});
