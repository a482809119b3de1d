import { expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFaultBench } from "../support/fault-bench.ts";
import { figure } from "../support/figure.ts";
import { notEmpty } from "../support/not-empty.ts";

const kills = 20;
const slots = 8;

test("20 × SIGKILL of broker, gateway, queue-worker and queue-doctor at once, at 50 calls/s: 0 lost", async () => {
  await using bench = await openFaultBench({ slots, ackWait: 2_000 });
  const { platform, sink, working } = bench;
  const stop = new AbortController();
  const load = bench.load({
    rate: 50,
    count: 1_000_000,
    callbackUrl: sink.url,
    body: () => "50",
    signal: stop.signal,
  });
  const { gateway, worker, doctor, server } = platform;
  for (let kill = 0; kill < kills; kill += 1) {
    const runs = working.requests.length;
    await eventually(() => working.requests.length > runs + 50, { within: 60_000, what: "the platform to be busy" });
    await Promise.all([server.kill(), ...[gateway, worker, doctor].map((each) => each.kill())]);
    await server.restart();
    await doctor.start();
    await Promise.all([gateway.start(), worker.start()]);
  }
  stop.abort();
  const { sent } = await load;
  const accepted = notEmpty(
    sent.filter((call) => call.class === "accepted"),
    "accepted call",
  );
  const { violations, counts } = await bench.settle({
    within: 60_000,
    // Runs in flight at each kill, and callbacks that were received but could not be recorded.
    extraRuns: kills * slots,
    extraCallbacks: kills * 32,
  });
  expect(violations).toEqual([]);
  figure("S1", `0 of ${accepted.length} calls lost by ${kills} kills of everything, ${counts.extraRuns} ran again`);
}, 600_000);
