import { afterEach, expect, test } from "vitest";

import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import type { FaultRule } from "../support/fault-plan.ts";

/** A heartbeat may be lost now and then, but not three in a row. */
const ackWait = 3_000;
const count = 150;
const faults: FaultRule[] = [
  { operation: "*", fault: { kind: "timed-out" }, probability: 0.05 },
  { operation: "*", fault: { kind: "answer-lost" }, probability: 0.05 },
  { operation: "*", fault: { kind: "unavailable" }, probability: 0.02 },
];

let bench: FaultBench | undefined;
afterEach(() => bench?.close());

test("FW16 5 % timeouts, 5 % lost responses, 2 % unavailable on every operation of every port: invariants hold", async () => {
  const { platform, ...opened } = (bench = await openFaultBench({
    workers: 2,
    slots: 8,
    ackWait,
    worker: { faults },
    gateway: { faults },
  }));
  const load = { rate: 60, count: count / 2, body: (sequence: number) => (sequence % 5 === 0 ? "500" : "15") };
  const loads = await Promise.all([opened.load(load), opened.load({ ...load, callbackUrl: opened.sink.url })]);
  const sent = loads.flatMap((summary) => summary.sent);
  // Calls without a response are sent again with their id, as clients are told to.
  const unknown = sent.filter(({ class: kind }) => kind === "unknown");
  expect(unknown.length).toBeGreaterThan(0);

  const { counts, violations } = await opened.settle({
    within: 5 * ackWait + 20_000,
    // A callback is sent again if its acknowledgement, or the response to its record's write, is lost.
    extraCallbacks: count,
  });
  const seeds = [platform.gateway, ...platform.workers].map(({ ready }) => ready["seed"]);
  expect(violations, `${JSON.stringify(counts)}, seeds ${JSON.stringify(seeds)}`).toEqual([]);
  expect(counts.accepted).toBeGreaterThan(count / 3);
});
