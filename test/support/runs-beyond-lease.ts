import { expect } from "vitest";

import { openFaultBench } from "./fault-bench.ts";
import { fastProfile } from "./platform-flags.ts";

/** FW4 and FW5: runs that last so many leases, and a backlog of shorter ones, are one run each. */
export async function runBeyondLease(leases: number): Promise<void> {
  await using bench = await openFaultBench({ workers: 2, slots: 8, upstreamTimeout: 30_000 });
  await bench.load({ rate: 100, count: 8, body: () => String(leases * fastProfile.ackWait) });
  await bench.load({ rate: 200, count: 40, body: () => "1000" });

  const { account, violations } = await bench.settle({ within: 40_000 });
  expect(violations).toEqual([]);
  // The first call of the bench is among them.
  const sent = new Set(account.sent.map(({ id }) => id));
  expect(account.runs.filter(({ id, status }) => sent.has(id) && status === 200)).toHaveLength(8 + 40 + 1);
}
