import { afterEach, describe, expect, test } from "vitest";

import { headerValue } from "../../../../runtime/core/headers/header-list.ts";
import { MemoryWorkQueue } from "../../../support/memory/memory-work-queue.ts";
import type { QueuedCall } from "../../../../runtime/core/calls/call.ts";
import type { Delivery } from "../../../../runtime/core/ports/call-queue.ts";
import { ledgerWith, sampleCall, sampleEntry, soon } from "../../../contract/samples.ts";
import { eventually } from "../../../support/eventually.ts";
import { faultPlan } from "../../../support/fault-plan.ts";
import { faultyCallbackQueue, faultyCallLedger, faultyDeliverySource } from "../../../support/port-faults.ts";
import { useJumpingClock } from "../../../support/use-jumping-clock.ts";
import { answered, hang, mortal, WorkerBench, type BenchOptions } from "../../../support/worker-bench.ts";

useJumpingClock();

const url = "http://receiver.example/done";
let bench: WorkerBench;
const open = (options: BenchOptions = {}): WorkerBench => {
  bench = new WorkerBench(options);
  return bench;
};
afterEach(() => bench.close());

describe("a worker that dies", () => {
  test("mid-run: another takes over after the lease, with one lost run and exactly one more", async () => {
    open({ ackWait: 1_500 });
    const doomed = mortal(bench.parts());
    bench.answer = (call, options) => (options.attempt === 1 ? hang(call, options) : answered());
    bench.start(doomed.parts);
    const id = await bench.accept({ callbackUrl: url });
    const first = await eventually(() => bench.runsOf(id)[0], { what: "the run" });
    bench.start();
    doomed.kill();
    const entry = await bench.until(id, "done");
    expect(entry).toMatchObject({ run: 2, lost: 1, retries: 0 });
    expect(entry.attempts.map(({ error }) => error)).toEqual(["the queue-worker was lost", undefined]);
    expect(bench.runsOf(id).map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect((bench.runsOf(id)[1]?.startedAt ?? 0) - first.startedAt).toBeGreaterThanOrEqual(1_500);
    // The dead worker notices it as well, in case it was only cut off.
    await eventually(() => first.signal.aborted, { what: "the first run to be cut off" });
    await eventually(() => bench.sent.length === 1, { what: "the callback" });
  });

  test("no other worker takes over a long run while its worker lives", async () => {
    open({ ackWait: 1_000 });
    let finish: () => void = () => {};
    bench.answer = () => new Promise((resolve) => (finish = () => resolve(answered())));
    bench.start();
    bench.start();
    const id = await bench.accept();
    const run = await eventually(() => bench.runsOf(id)[0], { what: "the run" });
    await eventually(() => performance.now() - run.startedAt > 2_500, { what: "two leases" });
    finish();
    expect(await bench.until(id, "done")).toMatchObject({ run: 1, lost: 0 });
    expect(bench.runsOf(id).length).toBe(1);
  });

  test("a duplicate of a running call is requeued, and settled after it", async () => {
    open({ ackWait: 2_000 });
    let finish: () => void = () => {};
    bench.answer = () => new Promise((resolve) => (finish = () => resolve(answered())));
    const again = new MemoryWorkQueue<QueuedCall>({ queue: "default", ackWait: 2_000 });
    let requeued = 0;
    const requeue = (delivery: Delivery<QueuedCall>, delay: number): void => {
      requeued += 1;
      delivery.requeue(delay);
    };
    bench.start();
    bench.start({
      deliveries: {
        take: (slots, handle, signal, mayAsk) =>
          again.take(
            slots,
            (delivery) => handle({ ...delivery, requeue: (delay) => requeue(delivery, delay) }),
            signal,
            mayAsk,
          ),
      },
    });
    const call = sampleCall({ callbackUrl: undefined });
    await bench.calls.put(call, soon());
    await eventually(() => bench.runsOf(call.id).length === 1, { what: "the run" });
    again.put(
      { id: call.id, subject: "", content: { read: call }, raw: { headers: new Map(), body: call.body } },
      soon(),
    );
    await eventually(() => requeued > 0, { what: "the duplicate to be requeued" });
    expect(again.size).toBe(1);
    finish();
    await bench.until(call.id, "done");
    await eventually(() => again.size === 0, { what: "the duplicate to be settled" });
    expect(bench.runsOf(call.id).length).toBe(1);
  });

  test.each(["callbacks", "deadLetters"] as const)(
    "after the outcome was recorded, before %s: the next worker settles what is pending and runs nothing",
    async (part) => {
      open({ ackWait: 300, attempts: 0 });
      bench.answer = () => answered(500, "out", ["X-Own", "1"]);
      const doomed = mortal(bench.parts());
      const deadly = {
        put: async (): Promise<never> => {
          doomed.kill();
          throw new Error("killed");
        },
      };
      bench.start({ ...doomed.parts, [part]: deadly });
      const id = await bench.accept({ callbackUrl: url });
      await eventually(() => doomed.dead, { what: "the worker to die" });
      const ended = await bench.entry(id);
      expect(ended).toMatchObject({ state: "failed", pending: ["callback", "dead-letter"] });
      expect(bench.ledger.timeLeft(id)).toBeGreaterThan(bench.times.callMaxAge);
      bench.start();
      expect(await bench.until(id, "failed")).toMatchObject({ run: 1, lost: 0, pending: [], ended: ended.ended });
      expect(bench.runsOf(id).length).toBe(1);
      expect(bench.deadLetters.all()).toMatchObject([{ id, reason: "exhausted" }]);
      await eventually(() => bench.sent.length > 0, { what: "the callback" });
      expect(Buffer.from(bench.sent[0]?.body ?? []).toString()).toBe("out");
      expect(headerValue(bench.sent[0]?.headers ?? [], "x-own")).toBe("1");
    },
  );

  test("before its acknowledgement arrived: the redelivery is acknowledged, nothing else", async () => {
    open({ ackWait: 1_500 });
    const plan = faultPlan([{ operation: "Delivery.acknowledge", fault: { kind: "timed-out" }, nth: 1 }], 1);
    bench.start({ deliveries: faultyDeliverySource(bench.calls.source("default"), plan) });
    const id = await bench.accept({ callbackUrl: url });
    await bench.until(id, "done");
    await eventually(() => bench.callbacks.size === 0, { what: "the callback's entry to be gone" });
    expect(bench.runsOf(id).length).toBe(1);
    expect(bench.sent.length).toBe(1);
  });

  test("five times: then the call fails, is a dead letter and is called back", async () => {
    open({ ackWait: 200 });
    bench.answer = hang;
    const call = sampleCall({ callbackUrl: url });
    const entry = sampleEntry(
      { state: "running", run: 6, lost: 5, owner: "dead", attempts: [{ number: 6, startedAt: 1 }] },
      call,
    );
    await bench.ledger.create(call.id, entry, soon());
    await bench.calls.put(call, soon());
    bench.start();
    expect(await bench.until(call.id, "failed")).toMatchObject({ reason: "crash", run: 6, lost: 5, status: 502 });
    expect(bench.runs).toEqual([]);
    expect(bench.deadLetters.all()).toMatchObject([{ id: call.id, reason: "crash", attempts: 6 }]);
    await eventually(() => bench.sent.length === 1, { what: "the callback" });
    expect(headerValue(bench.sent[0]?.headers ?? [], "x-function-status")).toBe("502");
  });
});

describe("a worker that stops", () => {
  test("lets runs finish within its grace", async () => {
    open();
    let finish: () => void = () => {};
    bench.answer = () => new Promise((resolve) => (finish = () => resolve(answered())));
    const worker = bench.start();
    const id = await bench.accept();
    await eventually(() => bench.runsOf(id).length === 1, { what: "the run" });
    const stopping = worker.stop(5_000);
    const later = await bench.accept();
    finish();
    await stopping;
    expect((await bench.entry(id)).state).toBe("done");
    expect((await bench.entry(later)).state).toBe("queued");
  });

  test("hands back the others; another worker runs them a second later, as neither retry nor lost run", async () => {
    open({ ackWait: 60_000 });
    bench.answer = (call, options) => (options.attempt === 1 ? hang(call, options) : answered());
    const worker = bench.start();
    const id = await bench.accept();
    await eventually(() => bench.runsOf(id).length === 1, { what: "the run" });
    await worker.stop(50);
    const entry = await bench.entry(id);
    expect(entry).toMatchObject({ state: "queued", run: 1, retries: 0, lost: 0, owner: null });
    expect(entry.attempts[0]?.error).toBe("the queue-worker stopped");
    bench.start();
    expect(await bench.until(id, "done")).toMatchObject({ run: 2, retries: 0, lost: 0 });
    const [first, second] = bench.runsOf(id);
    expect((second?.startedAt ?? 0) - (first?.startedAt ?? 0)).toBeGreaterThanOrEqual(1_000);
  });
});

describe("calls that cannot be run", () => {
  test("a message that is no call is a dead letter as it is, under a new id", async () => {
    open();
    const raw = { headers: new Map([["Weir-Version", "77"]]), body: Buffer.from("what?") };
    bench.calls.putUnreadable("default", raw, "version is 77");
    bench.start();
    const letters = await eventually(() => (bench.calls.size("default") === 0 ? bench.deadLetters.all() : undefined), {
      what: "the dead letter",
    });
    expect(letters).toMatchObject([{ kind: "call", reason: "undecodable", function: undefined, queue: "default" }]);
    expect(letters[0]?.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(Buffer.from(letters[0]?.body ?? []).toString()).toBe("what?");
    expect(letters[0]?.headers.get("Weir-Version")).toBe("77");
  });

  test("its record, if there is one, has failed and is called back", async () => {
    open();
    const call = sampleCall({ callbackUrl: url });
    await bench.ledger.create(call.id, sampleEntry({}, call), soon());
    bench.calls.putUnreadable(
      "default",
      { headers: new Map([["Weir-Call", call.id]]), body: Buffer.alloc(0) },
      "headers are no list",
    );
    bench.start();
    expect(await bench.until(call.id, "failed")).toMatchObject({ reason: "undecodable", status: 502, run: 0 });
    expect(bench.deadLetters.all()).toMatchObject([{ id: call.id, reason: "undecodable" }]);
    await eventually(() => bench.sent.length === 1, { what: "the callback" });
    expect(headerValue(bench.sent[0]?.headers ?? [], "x-function-status")).toBe("502");
  });

  test("a call that waited too long is given up with 504", async () => {
    open({ callMaxAge: -1 });
    bench.start();
    const id = await bench.accept({ callbackUrl: url });
    expect(await bench.until(id, "failed")).toMatchObject({ reason: "expired", status: 504, run: 0 });
    expect(bench.runs).toEqual([]);
    expect(bench.deadLetters.all()).toMatchObject([{ id, reason: "expired" }]);
    await eventually(() => bench.sent.length === 1, { what: "the callback" });
    expect(headerValue(bench.sent[0]?.headers ?? [], "x-function-status")).toBe("504");
  });

  test("a call without a record gets one, and is run", async () => {
    open();
    const call = sampleCall({ callbackUrl: undefined, start: BigInt(Date.now()) * 1_000_000n });
    await bench.calls.put(call, soon());
    bench.start();
    await eventually(async () => (await bench.ledger.read(call.id)) !== undefined, {
      what: "the record",
    });
    expect(await bench.until(call.id, "done")).toMatchObject({ run: 1, accepted: call.start.toString() });
  });
});

describe("a broker that loses responses", () => {
  test("a claim whose response was lost is a claim, also when the adapter repeated it", async () => {
    for (const repeated of [false, true]) {
      open({ ackWait: 60_000 });
      let lost = false;
      const flaky = ledgerWith(bench.ledger, {
        update: async (id, entry, revision) => {
          const written = await bench.ledger.update(id, entry, revision);
          if (lost || entry.state !== "running") return written;
          lost = true;
          return { kind: repeated ? "conflict" : "unknown" };
        },
      });
      bench.start({ ledger: flaky });
      const id = await bench.accept();
      expect(await bench.until(id, "done", 3_000)).toMatchObject({ run: 1, lost: 0 });
      await bench.close();
    }
  });

  test.each(Array.from({ length: 6 }, (_, seed) => seed))(
    "random faults: every call ends once, is called back, and leaves nothing pending (seed %i)",
    async (seed) => {
      open({ ackWait: 300 });
      const faults = (["timed-out", "answer-lost", "unavailable"] as const).flatMap((kind) =>
        [
          "CallLedger.read",
          "CallLedger.update",
          "CallLedger.putResult",
          "CallLedger.create",
          "Delivery.acknowledge",
          "Delivery.requeue",
          "CallbackQueue.put",
        ].map((operation) => ({ operation, fault: { kind }, probability: 0.04 })),
      );
      const plan = faultPlan(faults, seed);
      const ended = new Map<string, Set<string>>();
      const watched = ledgerWith(bench.ledger, {
        update: async (id, entry, revision) => {
          const written = await bench.ledger.update(id, entry, revision);
          if (written.kind === "written" && entry.ended !== null)
            ended.set(id, (ended.get(id) ?? new Set()).add(`${entry.state} ${entry.ended}`));
          return written;
        },
      });
      const faulty = {
        ledger: faultyCallLedger(watched, plan),
        deliveries: faultyDeliverySource(bench.calls.source("default"), plan),
        callbacks: faultyCallbackQueue(bench.callbacks, plan),
      };
      bench.answer = (_call, { attempt }) => (attempt % 3 === 0 ? answered(503) : answered());
      bench.start(faulty);
      bench.start(faulty);
      const ids: string[] = [];
      for (let n = 0; n < 25; n++) ids.push(await bench.accept({ callbackUrl: url }));
      await eventually(() => bench.calls.size("default") === 0 && bench.callbacks.size === 0, {
        within: 14_000,
        what: `empty queues; ${plan.happened.length} faults`,
      });
      for (const id of ids) {
        expect(await bench.entry(id)).toMatchObject({ state: "done", pending: [], callback: { state: "sent" } });
        expect([...(ended.get(id) ?? [])].length).toBe(1);
        const own = bench.sent.filter(({ headers }) => headerValue(headers, "x-call-id") === id);
        expect(own.length).toBeGreaterThan(0);
      }
    },
  );
});
