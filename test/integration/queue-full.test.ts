import { randomUUID } from "node:crypto";

import { afterEach, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { notAccepted } from "../support/load.ts";

let bench: FaultBench | undefined;
afterEach(() => bench?.close());

test("FW20 a record cannot be written: its callback is not sent again, log and later record say so", async () => {
  // The write of a callback's outcome is retried for as long as callbacks are.
  const opened = (bench = await openFaultBench({ ackWait: 2_000, callbackWindow: 120_000 }));
  const { platform, sink } = opened;
  const id = randomUUID();
  // Claimed and ended as usual; the writes that follow say that the callback was sent, and that nothing is pending.
  const faults = Array.from({ length: 80 }, (_, n) => ({
    operation: "CallLedger.update done",
    call: id,
    nth: n + 2,
    fault: { kind: "unavailable" as const },
  }));
  await platform.worker.stop();
  const worker = platform.add("worker", { faults });
  await worker.start();
  await platform.calls.accepted("working", { id, body: "1", callbackUrl: sink.url });
  const others = await opened.load({ rate: 20, count: 40, callbackUrl: sink.url });
  expect(notAccepted(others.sent)).toEqual([]);
  await sink.waitFor(id);
  const line = await eventually(
    () => worker.log.find(({ msg, callId }) => msg === "attempt of a callback is not in its record" && callId === id),
    { what: "a line in the log" },
  );
  expect(line).toMatchObject({ outcome: "sent", reason: "unavailable" });
  // Once it can be written the record has the callback's outcome.
  await eventually(async () => (await platform.calls.status(id))?.callback?.state === "sent", {
    within: 120_000,
    what: "the record",
  });
  const { violations } = await opened.settle({ within: 30_000 });
  expect(violations).toEqual([]);
  expect(sink.of(id)).toHaveLength(1);
});

test("FC5 the callbacks of one function fill their queue: other calls continue, and no callback is lost", async () => {
  const opened = (bench = await openFaultBench({ slots: 4, callbackWindow: 300_000 }));
  const { platform, sink: down } = opened;
  down.answerAlways({ kind: "status", status: 503 });
  // It would reset the bound.
  platform.doctor.pause();
  await platform.broker.boundCallbacks(50);
  const held = await opened.load({ rate: 100, count: 300, callbackUrl: down.url });
  expect(notAccepted(held.sent)).toEqual([]);

  const began = performance.now();
  const ids: string[] = [];
  await opened.open("other");
  for (let call = 0; call < 20; call += 1) ids.push(await platform.calls.accepted("other"));
  for (const id of ids) expect((await platform.calls.ended(id, 150_000)).state).toBe("done");
  // Slots that were held for callbacks would not be free before those are given up, after five minutes.
  expect(performance.now() - began).toBeLessThan(150_000);

  platform.doctor.resume();
  await platform.broker.boundCallbacks(100_000);
  down.answerAlways({ kind: "status", status: 200 });
  for (const { id } of held.sent) await down.waitFor(id, 60_000);
  const { violations } = await opened.settle({ within: 30_000 });
  expect(violations).toEqual([]);
}, 400_000);

test("FB12 only the broker is away: readiness, log and metric say so, and synchronous calls continue", async () => {
  const opened = (bench = await openFaultBench());
  const { platform, working } = opened;
  const adminUrl = `http://127.0.0.1:${String(platform.gateway.ready["adminPort"])}`;
  const readiness = async (query = "") => {
    const response = await fetch(`${adminUrl}/readyz${query}`);
    return `${response.status} ${(await response.text()).trim()}`;
  };
  const outage = (kind: string) => platform.metric(platform.gateway, "broker_unavailable", { kind });
  expect(await readiness()).toBe("200 ok");
  expect(await outage("away")).toBe(0);

  await platform.server.kill();
  await eventually(async () => (await readiness()) === "503 broker: away", { what: "broker: away" });
  expect(await readiness("?exclude=broker")).toBe("200 ok");
  expect([await outage("away"), await outage("full")]).toEqual([1, 0]);
  const runs = working.requests.length;
  for (let call = 0; call < 20; call += 1) {
    const response = await platform.calls.send("POST", "/function/working", { body: "1" });
    expect(response.status).toBe(200);
  }
  expect(working.requests.length - runs).toBe(20);
  const outageLines = () => platform.gateway.log.filter((line) => line["broker"] === "away");
  expect(outageLines()).toHaveLength(1);

  await platform.server.restart();
  await eventually(async () => (await readiness()) === "200 ok", { what: "the broker to be back" });
  await eventually(async () => (await platform.calls.queue("working", { body: "1" })).status === 202, {
    what: "a call to be accepted",
  });
  expect(outageLines()).toHaveLength(1);
  expect(await outage("away")).toBe(0);
  const { violations } = await opened.settle();
  expect(violations).toEqual([]);
});
