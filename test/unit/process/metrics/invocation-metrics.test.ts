import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { InvocationCounts } from "../../../../runtime/process/metrics/invocation-counts.ts";
import { buildInvocationMetrics } from "../../../../runtime/process/metrics/invocation-metrics.ts";

function counted(status: number, durations: readonly number[]): InvocationCounts {
  const counts = new InvocationCounts();
  const hello = counts.of("hello.functions");
  for (const duration of durations) {
    hello.begin(0);
    hello.finish(duration, status, duration);
  }
  hello.begin(0);
  return counts;
}

test("the counts of several parts of a process are one sum, with each call once, while they are shown", async () => {
  const registry = new Registry();
  const metrics = buildInvocationMetrics(registry);
  metrics.show(counted(200, [1, 1, 3]));
  metrics.show(counted(500, [1]));
  const end = metrics.show(counted(200, [1_000]));
  const labels = 'function_name="hello.functions"';
  const page = async () => (await registry.metrics()).split("\n").filter((line) => line.includes(labels));

  for (const round of ["first", "second"]) {
    expect(await page(), round).toEqual(
      expect.arrayContaining([
        `gateway_function_invocation_total{${labels},code="200"} 4`,
        `gateway_function_invocation_total{${labels},code="500"} 1`,
        `gateway_function_invocation_started{${labels}} 8`,
        `gateway_function_invocation_inflight{${labels}} 3`,
        `gateway_functions_seconds_bucket{le="0.001",${labels},code="200"} 2`,
        `gateway_functions_seconds_bucket{le="0.004",${labels},code="200"} 3`,
        `gateway_functions_seconds_sum{${labels},code="200"} 1.005`,
        `gateway_functions_seconds_count{${labels},code="200"} 4`,
        `gateway_functions_seconds_count{${labels},code="500"} 1`,
      ]),
    );
  }
  end();
  expect(await page()).toContain(`gateway_function_invocation_total{${labels},code="200"} 3`);
});
