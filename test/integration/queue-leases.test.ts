import { afterAll, beforeAll, expect, test } from "vitest";

import { openChaosProxy } from "../support/chaos-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";

let bench: FaultBench;
beforeAll(async () => {
  bench = await openFaultBench({ workers: 2, slots: 8, upstreamTimeout: 30_000 });
});
afterAll(() => bench?.close());

test("FW4 functions that take ten times the lease, and FW5 a backlog of long runs: one run each, nothing leased ahead", async () => {
  await bench.load({ rate: 100, count: 8, body: () => "20000" });
  await bench.load({ rate: 200, count: 40, body: () => "1000" });

  const { account, violations } = await bench.settle({ within: 40_000 });
  expect(violations).toEqual([]);
  // The first call of the bench is among them.
  const sent = new Set(account.sent.map(({ id }) => id));
  expect(account.runs.filter(({ id, status }) => sent.has(id) && status === 200)).toHaveLength(8 + 40 + 1);
});

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
