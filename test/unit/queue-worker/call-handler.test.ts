import { afterEach, describe, expect, test } from "vitest";

import { cancelCall } from "../../../runtime/core/cancel-call.ts";
import { headerValue } from "../../../runtime/core/header-list.ts";
import { MemoryWorkQueue } from "../../../runtime/adapters/memory/memory-work-queue.ts";
import type { QueuedCall } from "../../../runtime/core/call.ts";
import { ledgerWith, sampleCall, sampleEntry, soon } from "../../contract/samples.ts";
import { eventually } from "../../support/eventually.ts";
import { faultPlan } from "../../support/fault-plan.ts";
import { faultyCallbackQueue, faultyCallLedger, faultyDeliverySource } from "../../support/port-faults.ts";
import { answered, hang, mortal, WorkerBench, type BenchOptions } from "./worker-bench.ts";

const url = "http://receiver.example/done";
let bench: WorkerBench;
const open = (options: BenchOptions = {}): WorkerBench => {
  bench = new WorkerBench(options);
  return bench;
};
afterEach(() => bench.close());

describe("a call that is answered", () => {
  test("is done: run once, result stored, callback sent, message gone", async () => {
    open().answer = () => answered(201, "out", ["Content-Type", "text/x", "X-Own", "1"]);
    bench.start();
    const id = await bench.accept({ callbackUrl: url });
    await bench.until(id, "done");
    const entry = await eventually(
      async () => {
        const found = await bench.entry(id);
        return found.callback?.state === "sent" ? found : undefined;
      },
      { within: 3_000, what: "the callback to be recorded" },
    );
    expect(bench.runsOf(id).map(({ attempt }) => attempt)).toEqual([1]);
    expect(entry).toMatchObject({ status: 201, run: 1, retries: 0, lost: 0, owner: null, reason: null, owes: [] });
    expect(entry.attempts).toMatchObject([{ number: 1, status: 201, duration: 3 }]);
    expect(entry.result).toMatchObject({ run: 1, size: 3, stored: true, ttl: 3_600_000 });
    expect(entry.callback).toMatchObject({ state: "sent", attempts: 1, status: 200 });
    const [sent] = bench.sent;
    expect(Buffer.from(sent?.body ?? []).toString()).toBe("out");
    expect(headerValue(sent?.headers ?? [], "x-own")).toBe("1");
    expect(headerValue(sent?.headers ?? [], "x-function-status")).toBe("201");
    expect(bench.deadLetters.list()).toEqual([]);
    expect(bench.ledger.timeLeft(id)).toBeLessThanOrEqual(bench.times.callRecordTtl);
    await eventually(() => bench.callbacks.size === 0, { within: 3_000, what: "the callback's entry to be gone" });
    await eventually(() => (bench.ledger.timeLeft(id, 1) ?? 0) <= 3_600_000, { within: 3_000, what: "the result's last time to live" });
  });

  test("with a final status has failed, is no dead letter, and is called back", async () => {
    open().answer = () => answered(404, "no");
    bench.start();
    const id = await bench.accept({ callbackUrl: url });
    expect(await bench.until(id, "failed")).toMatchObject({ reason: "rejected", status: 404 });
    await eventually(() => bench.sent.length === 1, { within: 3_000, what: "the callback" });
    expect(bench.deadLetters.list()).toEqual([]);
    expect(bench.runsOf(id).length).toBe(1);
  });

  test("of a function that keeps no results leaves none behind, but the callback has it", async () => {
    open({ annotations: { "com.service.result.ttl": "0s" } });
    bench.start();
    const id = await bench.accept({ callbackUrl: url });
    await bench.until(id, "done");
    await eventually(() => bench.sent.length === 1, { within: 3_000, what: "the callback" });
    expect(Buffer.from(bench.sent[0]?.body ?? []).toString()).toBe("out");
    await eventually(async () => (await bench.ledger.readResult(id, 1)) === undefined, { within: 3_000, what: "the result to be removed" });
    const other = await bench.accept();
    expect((await bench.until(other, "done")).result).toMatchObject({ stored: false, ttl: 0 });
  });

  test("with more output than is kept is done without it", async () => {
    open().answer = () => ({ kind: "answered", status: 200, headers: [], body: undefined, size: 2_000_000, duration: 1 });
    bench.start();
    const id = await bench.accept({ callbackUrl: url });
    expect((await bench.until(id, "done")).result).toMatchObject({ stored: false, size: 2_000_000 });
    await eventually(() => bench.sent.length === 1, { within: 3_000, what: "the callback" });
    expect(bench.sent[0]?.body.byteLength).toBe(0);
    expect(headerValue(bench.sent[0]?.headers ?? [], "x-result-truncated")).toBe("true");
  });

  test("when there is no room for results is done without it", async () => {
    open({ maxResultBytes: 2 });
    bench.start();
    const id = await bench.accept();
    expect((await bench.until(id, "done")).result).toMatchObject({ stored: false, size: 3 });
  });

  test("calls start in the order they were accepted, one at a time with one slot", async () => {
    open({ slots: 1 });
    const ids: string[] = [];
    for (let n = 0; n < 10; n++) ids.push(await bench.accept());
    bench.start();
    for (const id of ids) await bench.until(id, "done");
    expect(bench.runs.map(({ id }) => id)).toEqual(ids);
  });
});

describe("retries", () => {
  test("a retryable answer is tried again after its wait, with the next attempt's number", async () => {
    open().answer = (_call, { attempt }) => (attempt < 3 ? answered(503) : answered(200));
    bench.start();
    const id = await bench.accept({ callbackUrl: url });
    const entry = await bench.until(id, "done");
    expect(entry).toMatchObject({ run: 3, retries: 2, lost: 0, status: 200 });
    expect(entry.attempts.map(({ status }) => status)).toEqual([503, 503, 200]);
    const [first, second] = bench.runsOf(id);
    expect((second?.startedAt ?? 0) - (first?.startedAt ?? 0)).toBeGreaterThanOrEqual(19);
    await eventually(() => bench.sent.length === 1, { within: 3_000, what: "the callback" });
    expect(headerValue(bench.sent[0]?.headers ?? [], "x-retry")).toBe("2");
  });

  test("a waiting call holds no slot", async () => {
    open({ slots: 1 }).answer = (call, { attempt }) => (call.path === "/retry" && attempt === 1 ? answered(429, "", ["Retry-After", "1"]) : answered());
    bench.deploy({ "com.service.retry.min_wait": "300ms" });
    const first = await bench.accept({ path: "/retry" });
    const second = await bench.accept();
    bench.start();
    await eventually(async () => (await bench.entry(second)).state === "done", { within: 2_000, what: "the second call" });
    expect((await bench.entry(first)).state).toBe("waiting");
    expect(await bench.until(first, "done")).toMatchObject({ retries: 1 });
    expect(bench.runs.map(({ id }) => id)).toEqual([first, second, first]);
  });

  test("when none is left the call is a dead letter, and is called back", async () => {
    open({ attempts: 2 }).answer = () => ({ kind: "unreachable", error: "reset", sent: true, duration: 1 });
    bench.start();
    const id = await bench.accept({ callbackUrl: url });
    expect(await bench.until(id, "failed")).toMatchObject({ reason: "exhausted", run: 3, retries: 2, status: 502, result: null });
    expect(bench.deadLetters.list()).toMatchObject([{ kind: "call", id, reason: "exhausted", attempts: 3, lastStatus: 502, redrives: 0 }]);
    await eventually(() => bench.sent.length === 1, { within: 3_000, what: "the callback" });
    const { headers = [], body } = bench.sent[0] ?? {};
    expect([headerValue(headers, "x-function-status"), headerValue(headers, "x-retry"), headerValue(headers, "x-retry-max")]).toEqual(["502", "2", "2"]);
    expect(body?.byteLength).toBe(0);
    expect(headerValue(headers, "x-result-truncated")).toBeUndefined();
  });

  test("a function's own rules come before the queue's", async () => {
    open({ annotations: { "com.service.retry.attempts": "1", "com.service.retry.codes": "418" } }).answer = () => answered(418);
    bench.start();
    const id = await bench.accept();
    expect(await bench.until(id, "failed")).toMatchObject({ reason: "exhausted", run: 2, maxRetries: 1 });
  });

  test("a call put back too early waits for its time", async () => {
    open();
    const call = sampleCall({ callbackUrl: undefined });
    const next = Date.now() + 400;
    await bench.ledger.create(call.id, sampleEntry({ state: "waiting", run: 1, retries: 1, next, callback: null }), 60_000, soon());
    await bench.calls.put(call, soon());
    bench.start();
    await bench.until(call.id, "done");
    expect(Date.now()).toBeGreaterThanOrEqual(next - 105);
    expect(bench.runsOf(call.id).map(({ attempt }) => attempt)).toEqual([2]);
  });

  test("a deleted function ends the call", async () => {
    open();
    bench.table.functionObserver.removed({ namespace: "functions", name: "echo" });
    bench.start();
    const id = await bench.accept({ callbackUrl: url });
    expect(await bench.until(id, "failed")).toMatchObject({ reason: "function_not_found", status: 404 });
    await eventually(() => bench.sent.length === 1, { within: 3_000, what: "the callback" });
    expect(headerValue(bench.sent[0]?.headers ?? [], "x-function-status")).toBe("404");
  });

  test("a function that the table does not know yet is waited for", async () => {
    open();
    bench.table.functionObserver.removed({ namespace: "functions", name: "echo" });
    bench.start();
    await bench.functions.write({ namespace: "functions", name: "echo" }, () => ({
      namespace: "functions", name: "echo", deployment: { service: "echo", image: "x" }, replicas: 1, generation: 1, createdAt: "", updatedAt: "",
    }));
    const id = await bench.accept();
    await eventually(async () => (await bench.entry(id)).retries > 0, { within: 3_000, what: "a retry" });
    bench.deploy();
    await bench.until(id, "done");
  });

  test("no replica, a run that takes too long: tried again as 503 and 504", async () => {
    open({ attempts: 1 });
    bench.table.endpointsObserver.set({ namespace: "functions", name: "echo", addresses: [], observedGeneration: 1, conditions: [] });
    bench.start();
    const id = await bench.accept();
    expect(await bench.until(id, "failed")).toMatchObject({ reason: "exhausted", status: 503, run: 2 });
    expect(bench.runs).toEqual([]);
    bench.table.endpointsObserver.set({ namespace: "functions", name: "echo", addresses: ["replica:1"], observedGeneration: 1, conditions: [] });
    bench.answer = (_call, { timeout }) => ({ kind: "timed-out", duration: timeout });
    const slow = await bench.accept();
    expect(await bench.until(slow, "failed")).toMatchObject({ reason: "exhausted", status: 504 });
  });

  test("a replica that refuses the connection is not the only one that is asked", async () => {
    open();
    bench.table.endpointsObserver.set({ namespace: "functions", name: "echo", addresses: ["replica:1", "replica:2"], observedGeneration: 1, conditions: [] });
    bench.answer = (_call, _options, run) =>
      run.address === "replica:1" ? { kind: "unreachable", error: "refused", sent: false, duration: 1 } : answered();
    bench.start();
    for (let n = 0; n < 3; n++) {
      const id = await bench.accept();
      expect(await bench.until(id, "done")).toMatchObject({ run: 1, retries: 0 });
    }
    expect(bench.table.findKey("echo")?.replicas.map(({ inFlight }) => inFlight)).toEqual([0, 0]);
  });
});

describe("cancel", () => {
  test("a running call is cut off at once, says nothing and is not called back", async () => {
    open({ ackWait: 60_000 }).answer = hang;
    const worker = bench.start();
    const id = await bench.accept({ callbackUrl: url });
    const run = await eventually(() => bench.runsOf(id)[0], { within: 3_000, what: "the run" });
    await cancelCall(bench, id, () => {});
    await eventually(() => run.signal.aborted, { within: 1_000, what: "the run to be cut off" });
    await bench.until(id, "cancelled");
    await eventually(() => (bench.ledger.timeLeft(id) ?? 0) <= bench.times.callRecordTtl, { within: 3_000, what: "the last time to live" });
    expect(worker.running).toBe(0);
    expect(bench.sent).toEqual([]);
    expect(bench.callbacks.size).toBe(0);
  });

  test("is found out at the next heartbeat when word of it was lost", async () => {
    open({ ackWait: 300 }).answer = hang;
    bench.start();
    const id = await bench.accept();
    const run = await eventually(() => bench.runsOf(id)[0], { within: 3_000, what: "the run" });
    const silent = { cancelled: () => {}, ended: () => {}, onCancelled: () => () => {}, onEnded: () => () => {} };
    await cancelCall({ ledger: bench.ledger, times: bench.times, signals: silent }, id, () => {});
    await eventually(() => run.signal.aborted, { within: 1_000, what: "the run to be cut off" });
    await bench.until(id, "cancelled");
  });

  test("a queued call is dropped without a run, and a waiting one", async () => {
    open().answer = () => answered(429, "", ["Retry-After", "1"]);
    bench.deploy({ "com.service.retry.min_wait": "100ms" });
    const queued = await bench.accept();
    await cancelCall(bench, queued, () => {});
    bench.start();
    await bench.until(queued, "cancelled");
    expect(bench.runs).toEqual([]);
    const waiting = await bench.accept();
    await eventually(async () => (await bench.entry(waiting)).state === "waiting", { within: 3_000, what: "the wait" });
    await cancelCall(bench, waiting, () => {});
    await bench.until(waiting, "cancelled");
    expect(bench.runsOf(waiting).length).toBe(1);
  });

  test("that comes while the function answers: the record decides, and the message goes", async () => {
    open();
    bench.answer = async (call) => {
      await cancelCall(bench, call.id, () => {});
      return answered();
    };
    bench.start();
    const id = await bench.accept({ callbackUrl: url });
    await bench.until(id, "cancelled");
    expect(bench.sent).toEqual([]);
  });

  test("word of a call that was not cancelled does nothing", async () => {
    let finish: () => void = () => {};
    open().answer = () => new Promise((resolve) => (finish = () => resolve(answered())));
    bench.start();
    const id = await bench.accept();
    await eventually(() => bench.runsOf(id).length === 1, { within: 3_000, what: "the run" });
    bench.signals.cancelled(id);
    await eventually(async () => (await bench.entry(id)).state === "running", { within: 500, what: "the run to go on" });
    finish();
    await bench.until(id, "done");
  });
});

describe("a worker that dies", () => {
  test("mid-run: another takes over after the lease, with one lost run and exactly one more", async () => {
    open({ ackWait: 400 });
    const doomed = mortal(bench.parts());
    bench.answer = (call, options) => (options.attempt === 1 ? hang(call, options) : answered());
    bench.start(doomed.parts);
    const id = await bench.accept({ callbackUrl: url });
    const first = await eventually(() => bench.runsOf(id)[0], { within: 3_000, what: "the run" });
    bench.start();
    doomed.kill();
    const entry = await bench.until(id, "done");
    expect(entry).toMatchObject({ run: 2, lost: 1, retries: 0 });
    expect(entry.attempts.map(({ error }) => error)).toEqual(["the queue-worker was lost", undefined]);
    expect(bench.runsOf(id).map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect((bench.runsOf(id)[1]?.startedAt ?? 0) - first.startedAt).toBeGreaterThan(350);
    // The dead one finds out as well, in case it was only cut off.
    await eventually(() => first.signal.aborted, { within: 2_000, what: "the first run to be cut off" });
    await eventually(() => bench.sent.length === 1, { within: 3_000, what: "the callback" });
  });

  test("while it lives, a long run is nobody else's", async () => {
    open({ ackWait: 200 });
    let finish: () => void = () => {};
    bench.answer = () => new Promise((resolve) => (finish = () => resolve(answered())));
    bench.start();
    bench.start();
    const id = await bench.accept();
    const run = await eventually(() => bench.runsOf(id)[0], { within: 3_000, what: "the run" });
    await eventually(() => performance.now() - run.startedAt > 1_000, { within: 3_000, what: "five leases" });
    finish();
    expect(await bench.until(id, "done")).toMatchObject({ run: 1, lost: 0 });
    expect(bench.runsOf(id).length).toBe(1);
  });

  test("a duplicate of a running call is put back and settled after it", async () => {
    open({ ackWait: 400 });
    let finish: () => void = () => {};
    bench.answer = () => new Promise((resolve) => (finish = () => resolve(answered())));
    const again = new MemoryWorkQueue<QueuedCall>({ queue: "default", ackWait: 400 });
    bench.start();
    bench.start({ deliveries: again });
    const call = sampleCall({ callbackUrl: undefined });
    await bench.calls.put(call, soon());
    await eventually(() => bench.runsOf(call.id).length === 1, { within: 3_000, what: "the run" });
    again.put({ id: call.id, subject: "", content: { read: call }, raw: { headers: new Map(), body: call.body } }, soon());
    await eventually(() => again.size === 1, { within: 3_000, what: "the duplicate" });
    finish();
    await bench.until(call.id, "done");
    await eventually(() => again.size === 0, { within: 3_000, what: "the duplicate to be settled" });
    expect(bench.runsOf(call.id).length).toBe(1);
  });

  test.each(["callbacks", "deadLetters"] as const)("after the outcome was recorded, before %s: the next one pays the debts and runs nothing", async (debt) => {
    open({ ackWait: 300, attempts: 0 });
    bench.answer = () => answered(500, "out", ["X-Own", "1"]);
    const doomed = mortal(bench.parts());
    const deadly = {
      put: async (): Promise<never> => {
        doomed.kill();
        throw new Error("killed");
      },
    };
    bench.start({ ...doomed.parts, [debt]: deadly });
    const id = await bench.accept({ callbackUrl: url });
    await eventually(() => doomed.dead, { within: 3_000, what: "the worker to die" });
    const ended = await bench.entry(id);
    expect(ended).toMatchObject({ state: "failed", owes: ["callback", "dead-letter"] });
    expect(bench.ledger.timeLeft(id)).toBeGreaterThan(bench.times.callAge);
    bench.start();
    expect(await bench.until(id, "failed")).toMatchObject({ run: 1, lost: 0, owes: [], ended: ended.ended });
    expect(bench.runsOf(id).length).toBe(1);
    expect(bench.deadLetters.list()).toMatchObject([{ id, reason: "exhausted" }]);
    await eventually(() => bench.sent.length > 0, { within: 3_000, what: "the callback" });
    expect(Buffer.from(bench.sent[0]?.body ?? []).toString()).toBe("out");
    expect(headerValue(bench.sent[0]?.headers ?? [], "x-own")).toBe("1");
  });

  test("before its acknowledgement came through: the redelivery is acknowledged, nothing else", async () => {
    open({ ackWait: 200 });
    const plan = faultPlan([{ operation: "Delivery.acknowledge", fault: { kind: "timed-out" }, nth: 1 }], 1);
    bench.start({ deliveries: faultyDeliverySource(bench.calls.source("default"), plan) });
    const id = await bench.accept({ callbackUrl: url });
    await bench.until(id, "done");
    await eventually(() => bench.callbacks.size === 0, { within: 3_000, what: "the callback's entry to be gone" });
    expect(bench.runsOf(id).length).toBe(1);
    expect(bench.sent.length).toBe(1);
  });

  test("five times is what a call survives: then it is given up, a dead letter, called back", async () => {
    open({ ackWait: 200 });
    bench.answer = hang;
    const call = sampleCall({ callbackUrl: url });
    const entry = sampleEntry({ state: "running", run: 6, lost: 5, owner: "dead", attempts: [{ number: 6, startedAt: 1 }] }, call);
    await bench.ledger.create(call.id, entry, 60_000, soon());
    await bench.calls.put(call, soon());
    bench.start();
    expect(await bench.until(call.id, "failed")).toMatchObject({ reason: "crash", run: 6, lost: 5, status: 502 });
    expect(bench.runs).toEqual([]);
    expect(bench.deadLetters.list()).toMatchObject([{ id: call.id, reason: "crash", attempts: 6 }]);
    await eventually(() => bench.sent.length === 1, { within: 3_000, what: "the callback" });
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
    await eventually(() => bench.runsOf(id).length === 1, { within: 3_000, what: "the run" });
    const stopping = worker.stop(5_000);
    const later = await bench.accept();
    finish();
    await stopping;
    expect((await bench.entry(id)).state).toBe("done");
    expect((await bench.entry(later)).state).toBe("queued");
  });

  test("hands back what does not, to be run by another a second later, counted neither as retry nor as lost", async () => {
    open({ ackWait: 60_000 });
    bench.answer = (call, options) => (options.attempt === 1 ? hang(call, options) : answered());
    const worker = bench.start();
    const id = await bench.accept();
    await eventually(() => bench.runsOf(id).length === 1, { within: 3_000, what: "the run" });
    await worker.stop(50);
    const entry = await bench.entry(id);
    expect(entry).toMatchObject({ state: "queued", run: 1, retries: 0, lost: 0, owner: null });
    expect(entry.attempts[0]?.error).toBe("the queue-worker stopped");
    bench.start();
    expect(await bench.until(id, "done")).toMatchObject({ run: 2, retries: 0, lost: 0 });
    const [first, second] = bench.runsOf(id);
    expect((second?.startedAt ?? 0) - (first?.startedAt ?? 0)).toBeGreaterThan(900);
  });
});

describe("what cannot be run", () => {
  test("a message that is no call is a dead letter as it is, under an id of its own", async () => {
    open();
    const raw = { headers: new Map([["Weir-Version", "77"]]), body: Buffer.from("what?") };
    bench.calls.putUnreadable("default", raw, "version is 77");
    bench.start();
    const letters = await eventually(() => (bench.calls.size("default") === 0 ? bench.deadLetters.list() : undefined), { within: 3_000, what: "the dead letter" });
    expect(letters).toMatchObject([{ kind: "call", reason: "undecodable", function: undefined, queue: "default" }]);
    expect(letters[0]?.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(Buffer.from(letters[0]?.body ?? []).toString()).toBe("what?");
    expect(letters[0]?.headers.get("Weir-Version")).toBe("77");
  });

  test("its record, if there is one, has failed and is called back", async () => {
    open();
    const call = sampleCall({ callbackUrl: url });
    await bench.ledger.create(call.id, sampleEntry({}, call), 60_000, soon());
    bench.calls.putUnreadable("default", { headers: new Map([["Weir-Call", call.id]]), body: Buffer.alloc(0) }, "headers are no list");
    bench.start();
    expect(await bench.until(call.id, "failed")).toMatchObject({ reason: "undecodable", status: 502, run: 0 });
    expect(bench.deadLetters.list()).toMatchObject([{ id: call.id, reason: "undecodable" }]);
    await eventually(() => bench.sent.length === 1, { within: 3_000, what: "the callback" });
    expect(headerValue(bench.sent[0]?.headers ?? [], "x-function-status")).toBe("502");
  });

  test("a call that waited too long is given up with 504", async () => {
    open({ callAge: -1 });
    bench.start();
    const id = await bench.accept({ callbackUrl: url });
    expect(await bench.until(id, "failed")).toMatchObject({ reason: "expired", status: 504, run: 0 });
    expect(bench.runs).toEqual([]);
    expect(bench.deadLetters.list()).toMatchObject([{ id, reason: "expired" }]);
    await eventually(() => bench.sent.length === 1, { within: 3_000, what: "the callback" });
    expect(headerValue(bench.sent[0]?.headers ?? [], "x-function-status")).toBe("504");
  });

  test("a call without a record gets one and is run", async () => {
    open();
    const call = sampleCall({ callbackUrl: undefined, start: BigInt(Date.now()) * 1_000_000n });
    await bench.calls.put(call, soon());
    bench.start();
    await eventually(async () => (await bench.ledger.read(call.id)) !== undefined, { within: 3_000, what: "the record" });
    expect(await bench.until(call.id, "done")).toMatchObject({ run: 1, accepted: call.start.toString() });
  });
});

describe("a broker that loses answers", () => {
  test("a take whose answer was lost is a take, also when the adapter repeated it", async () => {
    for (const repeated of [false, true]) {
      open({ ackWait: 60_000 });
      let lost = false;
      const flaky = ledgerWith(bench.ledger, {
        update: async (id, entry, revision, ttl) => {
          const written = await bench.ledger.update(id, entry, revision, ttl);
          if (lost || entry.state !== "running") return written;
          lost = true;
          if (repeated) return undefined;
          throw new Error("no answer");
        },
      });
      bench.start({ ledger: flaky });
      const id = await bench.accept();
      expect(await bench.until(id, "done", 3_000)).toMatchObject({ run: 1, lost: 0 });
      await bench.close();
    }
  });

  test.each(Array.from({ length: 6 }, (_, seed) => seed))("any faults: every call ends once, is called back, and leaves nothing (seed %i)", async (seed) => {
    open({ ackWait: 300 });
    const faults = (["timed-out", "answer-lost", "unavailable"] as const).flatMap((kind) =>
      ["CallLedger.read", "CallLedger.update", "CallLedger.putResult", "CallLedger.create", "Delivery.acknowledge", "Delivery.putBack", "CallbackQueue.put"].map(
        (operation) => ({ operation, fault: { kind }, probability: 0.04 }),
      ),
    );
    const plan = faultPlan(faults, seed);
    const ended = new Map<string, Set<string>>();
    const watched = ledgerWith(bench.ledger, {
      update: async (id, entry, revision, ttl) => {
        const written = await bench.ledger.update(id, entry, revision, ttl);
        if (written !== undefined && entry.ended !== null) ended.set(id, (ended.get(id) ?? new Set()).add(`${entry.state} ${entry.ended}`));
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
    await eventually(() => bench.calls.size("default") === 0 && bench.callbacks.size === 0, { within: 14_000, what: `empty queues; ${plan.happened.length} faults` });
    for (const id of ids) {
      expect(await bench.entry(id)).toMatchObject({ state: "done", owes: [], callback: { state: "sent" } });
      expect([...(ended.get(id) ?? [])].length).toBe(1);
      const own = bench.sent.filter(({ headers }) => headerValue(headers, "x-call-id") === id);
      expect(own.length).toBeGreaterThan(0);
    }
  });
});
