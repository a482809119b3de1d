import { afterAll, beforeAll, expect, test } from "vitest";

import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";

let bench: FaultBench;
beforeAll(async () => {
  bench = await openFaultBench({ workers: 2, slots: 8, upstreamTimeout: 30_000 });
});
afterAll(() => bench.close());

test("FW4 functions that take ten times the lease, and FW5 a backlog of long runs: one run each, nothing leased ahead", async () => {
  await bench.load({ rate: 100, count: 8, body: () => "20000" });
  await bench.load({ rate: 200, count: 40, body: () => "1000" });

  const { account, violations } = await bench.settle({ within: 40_000 });
  expect(violations).toEqual([]);
  // The first call of the bench is among them.
  const sent = new Set(account.sent.map(({ id }) => id));
  expect(account.runs.filter(({ id, status }) => sent.has(id) && status === 200)).toHaveLength(8 + 40 + 1);
});
