import { afterEach, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { figure, inWords } from "../support/figure.ts";

const ackWait = 8_000;
/** Callbacks that one worker sends to one host at once. */
const callbackSlots = 4;

let bench: FaultBench | undefined;
afterEach(() => bench?.close());

test("FB1 the broker killed four times and stopped once under load: 0 lost, 0 extra runs, all reconnect by themselves", async () => {
  const { platform, working, ...opened } = (bench = await openFaultBench({ workers: 2, slots: 16, ackWait }));
  const stop = new AbortController();
  const body = (sequence: number): string => (sequence % 10 === 0 ? "1000" : "15");
  const loads = [
    opened.load({ rate: 60, count: 10_000, body, signal: stop.signal }),
    opened.load({ rate: 8, count: 10_000, body, signal: stop.signal, callbackUrl: opened.sink.url }),
  ];
  const processes = [platform.gateway, ...platform.workers];
  const pids = processes.map(({ pid }) => pid);
  const outages: number[] = [];
  const firsts: number[] = [];
  const { server } = platform;
  for (const end of [server.kill, server.kill, server.stop, server.kill, server.kill]) {
    const runs = working.requests.length;
    await eventually(() => working.requests.length > runs + 40, { what: "the platform to be busy" });
    await end();
    const away = performance.now();
    await server.restart();
    const back = performance.now();
    outages.push(back - away);
    // S9.
    await eventually(async () => (await platform.calls.queue("working", { body: "15" })).status === 202, {
      what: "the first accepted call",
    });
    firsts.push(performance.now() - back);
  }
  stop.abort();
  const sent = (await Promise.all(loads)).flatMap((summary) => summary.sent);
  expect(sent.filter(({ class: kind }) => kind === "accepted").length).toBeGreaterThan(150);
  // Runs may repeat if heartbeats, a third of the lease apart, cannot resume within the lease.
  for (const outage of outages) expect(outage).toBeLessThan(ackWait / 2);

  const { counts, violations } = await opened.settle({
    extraRuns: 0,
    extraCallbacks: outages.length * platform.workers.length * callbackSlots,
  });
  expect(violations, JSON.stringify(counts)).toEqual([]);
  figure("S1", `0 of ${counts.accepted} accepted calls lost in ${outages.length} ends of the broker`);
  figure("S3", `${counts.extraRuns} extra runs, away for at most ${inWords(Math.max(...outages))}`);
  figure("S9", `first call accepted at most ${inWords(Math.max(...firsts))} after the broker was back`);
  expect(processes.map(({ pid }) => pid)).toEqual(pids);
  expect(await platform.metric(platform.gateway, "gateway_nats_reconnect_total")).toBe(outages.length);
  for (const worker of platform.workers) {
    expect(await platform.metric(worker, "queue_worker_nats_reconnect_total")).toBe(outages.length);
    expect(await platform.probe(worker, "/readyz")).toBe(200);
  }
});
