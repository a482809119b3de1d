import { expect, test } from "vitest";

import { openChaosProxy } from "../support/chaos-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { openFaultBench } from "../support/fault-bench.ts";
import { runBeyondLease } from "../support/runs-beyond-lease.ts";

test("FW4 functions that take ten times the lease, and FW5 a backlog of long runs: one run each, nothing leased ahead", () =>
  runBeyondLease(10));

test("FW21 a black hole around a worker, longer than the lease: its runs end with the lease, and others begin then", async () => {
  // The broker's lease can lag by a third of this: less than the second for which two runs may overlap.
  const ackWait = 2_000;
  await using opened = await openFaultBench({ slots: 4, ackWait, upstreamTimeout: 60_000 });
  const { platform } = opened;
  const runs = new Map<string, { begun: number; ended: number }[]>();
  let quick = false;
  await opened.open("long", (request, response) => {
    const run = { begun: performance.now(), ended: Number.POSITIVE_INFINITY };
    const id = String(request.headers["x-call-id"]);
    runs.set(id, [...(runs.get(id) ?? []), run]);
    response.once("close", () => (run.ended = performance.now()));
    if (quick) response.end();
  });
  await platform.worker.stop();
  await using hole = await openChaosProxy(platform.server.port);
  const lonely = platform.add("worker", { brokerPort: hole.port });
  await lonely.start();
  const ids: string[] = [];
  for (let call = 0; call < 4; call += 1) ids.push(await platform.calls.accepted("long"));
  await eventually(() => runs.size === 4, { what: "the runs" });

  hole.up({ blackHole: true });
  hole.down({ blackHole: true });
  const swallowed = performance.now();
  quick = true;
  await platform.worker.start();
  for (const id of ids) expect((await platform.calls.ended(id, 30_000)).state).toBe("done");
  const allEnded = () => [...runs.values()].flat().every(({ ended }) => Number.isFinite(ended));
  await eventually(allEnded, { what: "the end of every run" });
  for (const id of ids) {
    const [first, second] = runs.get(id) ?? [];
    if (first === undefined || second === undefined) expect.fail(`call ${id} did not run twice`);
    expect(first.ended - swallowed).toBeLessThan(ackWait + 1_000);
    expect(first.ended - second.begun).toBeLessThan(1_000);
  }
  hole.heal();
  hole.reset();
  const { violations } = await opened.settle({ extraRuns: 4 });
  expect(violations).toEqual([]);
});
