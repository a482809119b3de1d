import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { CountedHistogram } from "../../../../runtime/process/metrics/counted-histogram.ts";
import { durationBounds } from "../../../../runtime/process/metrics/duration-histogram.ts";
import { RouteCounts } from "../../../../runtime/gateway/metrics/route-counts.ts";

test("CountedHistogram shows counts from elsewhere, in seconds and cumulative", async () => {
  const registry = new Registry();
  const counts = new RouteCounts();
  registry.registerMetric(
    new CountedHistogram({
      name: "took_seconds",
      help: "Time",
      labelNames: ["path", "method", "code"],
      read: () => counts.entries(),
    }),
  );
  expect(await registry.metrics()).toBe("# HELP took_seconds Time\n# TYPE took_seconds histogram\n");

  for (const duration of [0.5, 1.5, 1_000_000]) counts.add("/a", "GET", 200, duration);
  counts.add(undefined, "BREW", 404, 3);
  const lines = (await registry.metrics()).trim().split("\n").slice(2);
  const labels = 'path="/a",method="GET",code="200"';
  expect(lines.slice(0, 3)).toEqual([
    `took_seconds_bucket{le="0.001",${labels}} 1`,
    `took_seconds_bucket{le="0.002",${labels}} 2`,
    `took_seconds_bucket{le="0.004",${labels}} 2`,
  ]);
  expect(lines.slice(durationBounds.length, durationBounds.length + 3)).toEqual([
    `took_seconds_bucket{le="+Inf",${labels}} 3`,
    `took_seconds_sum{${labels}} 1000.002`,
    `took_seconds_count{${labels}} 3`,
  ]);
  expect(lines.at(-1)).toBe('took_seconds_count{path="other",method="other",code="404"} 1');
  expect(await registry.getMetricsAsJSON()).toHaveLength(1);
});
