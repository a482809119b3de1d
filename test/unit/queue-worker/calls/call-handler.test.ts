import pino from "pino";
import { afterEach, describe, expect, test } from "vitest";

import { cancelCall } from "../../../../runtime/core/calls/cancel-call.ts";
import { headerValue } from "../../../../runtime/core/headers/header-list.ts";
import { Waker } from "../../../../runtime/core/replicas/wake.ts";
import { InvocationCounts } from "../../../../runtime/process/metrics/invocation-counts.ts";
import { sampleCall, sampleEntry, soon } from "../../../contract/samples.ts";
import { eventually, patience } from "../../../support/eventually.ts";
import { answered, hang, WorkerBench, type BenchOptions } from "../../../support/worker-bench.ts";

const url = "http://receiver.example/done";
let bench: WorkerBench;
const open = (options: BenchOptions = {}): WorkerBench => {
  bench = new WorkerBench(options);
  return bench;
};
afterEach(() => bench.close());

describe("a call with a response", () => {
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
      { what: "the callback to be recorded" },
    );
    expect(bench.runsOf(id).map(({ attempt }) => attempt)).toEqual([1]);
    expect(entry).toMatchObject({ status: 201, run: 1, retries: 0, lost: 0, owner: null, reason: null, pending: [] });
    expect(entry.attempts).toMatchObject([{ number: 1, status: 201, duration: 3 }]);
    expect(entry.result).toMatchObject({ run: 1, size: 3, stored: true, ttl: 3_600_000 });
    expect(entry.callback).toMatchObject({ state: "sent", attempts: 1, status: 200 });
    const [sent] = bench.sent;
    expect(Buffer.from(sent?.body ?? []).toString()).toBe("out");
    expect(headerValue(sent?.headers ?? [], "x-own")).toBe("1");
    expect(headerValue(sent?.headers ?? [], "x-function-status")).toBe("201");
    expect(bench.deadLetters.all()).toEqual([]);
    expect(bench.ledger.timeLeft(id)).toBeLessThanOrEqual(bench.times.callRecordTtl);
    await eventually(() => bench.callbacks.size === 0, { what: "the callback's entry to be gone" });
    await eventually(() => (bench.ledger.timeLeft(id, 1) ?? 0) <= 3_600_000, {
      what: "the result's last time to live",
    });
  });

  test.each<[name: string, annotations: Readonly<Record<string, string>>, timeout: number]>([
    ["its queue's timeout", {}, 10_000],
    ["its function's timeout, which is longer", { "com.service.timeout": "25s" }, 25_000],
    ["its queue's timeout, which is longer", { "com.service.timeout": "5s" }, 10_000],
  ])("has %s", async (_name, annotations, timeout) => {
    const given: number[] = [];
    open({ annotations }).answer = (_call, options) => {
      given.push(options.timeout);
      return answered();
    };
    bench.start();
    await bench.until(await bench.accept({}), "done");
    expect(given).toEqual([timeout]);
  });

  test("each run is counted once, by the function's status, or that of its failure", async () => {
    const outcomes = [
      { kind: "unreachable", error: "refused", sent: false, duration: 1 },
      { kind: "unreachable", error: "refused", sent: false, duration: 1 },
      { kind: "timed-out", duration: 1 },
      answered(500, "no"),
      answered(200, "out"),
    ] as const;
    let run = 0;
    const addresses = ["replica:1", "replica:2"];
    open().answer = () => outcomes[run++] ?? answered(200, "more");
    const endpoints = { namespace: "functions", name: "echo", addresses, observedGeneration: 1, conditions: [] };
    bench.table.endpointsObserver.set(endpoints);
    const runCounts = new InvocationCounts();
    bench.start({ runCounts });
    await bench.until(await bench.accept(), "done");
    const ended = [...runCounts.ended()].map(([{ code }, { count }]) => [code, count]);
    expect(ended).toEqual([
      ["502", 1],
      ["504", 1],
      ["500", 1],
      ["200", 1],
    ]);
    expect([...runCounts.entries()].map(([, { finished, inFlight }]) => [finished, inFlight])).toEqual([[4, 0]]);
  });

  test("with a final status has failed, is no dead letter, and is called back", async () => {
    open().answer = () => answered(404, "no");
    bench.start();
    const id = await bench.accept({ callbackUrl: url });
    expect(await bench.until(id, "failed")).toMatchObject({ reason: "rejected", status: 404 });
    await eventually(() => bench.sent.length === 1, { what: "the callback" });
    expect(bench.deadLetters.all()).toEqual([]);
    expect(bench.runsOf(id).length).toBe(1);
  });

  test("logs each failed attempt, with the time of the next one", async () => {
    const lines: Record<string, unknown>[] = [];
    const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
    open({ attempts: 1 }).answer = () => answered(503, "no");
    bench.start({ log: pino({}, { write }) });
    const id = await bench.accept();
    const { retries } = await bench.until(id, "failed");
    expect(retries).toBe(1);
    const facts = { callId: id, functionName: "echo.functions", status: 503 };
    expect(lines.filter(({ level }) => level === 30)).toMatchObject([
      { ...facts, msg: "queued call failed, trying again", next: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) },
      { ...facts, msg: "queued call failed", reason: "exhausted" },
    ]);
  });

  test("of a function that keeps no results leaves none behind, but the callback has it", async () => {
    open({ annotations: { "com.service.result.ttl": "0s" } });
    bench.start();
    const id = await bench.accept({ callbackUrl: url });
    await bench.until(id, "done");
    await eventually(() => bench.sent.length === 1, { what: "the callback" });
    expect(Buffer.from(bench.sent[0]?.body ?? []).toString()).toBe("out");
    await eventually(async () => (await bench.ledger.readResult(id, 1)) === undefined, {
      what: "the result to be removed",
    });
    const other = await bench.accept();
    expect((await bench.until(other, "done")).result).toMatchObject({ stored: false, ttl: 0 });
  });

  test("with more output than is kept is done without it", async () => {
    open().answer = () => ({
      kind: "responded",
      status: 200,
      headers: [],
      body: undefined,
      size: 2_000_000,
      duration: 1,
    });
    bench.start();
    const id = await bench.accept({ callbackUrl: url });
    expect((await bench.until(id, "done")).result).toMatchObject({ stored: false, size: 2_000_000 });
    await eventually(() => bench.sent.length === 1, { what: "the callback" });
    expect(bench.sent[0]?.body.byteLength).toBe(0);
    expect(headerValue(bench.sent[0]?.headers ?? [], "x-result-truncated")).toBe("true");
  });

  test("when there is no room for results is done without it", async () => {
    open({ maxResultBytes: 2 });
    bench.start();
    const id = await bench.accept();
    expect((await bench.until(id, "done")).result).toMatchObject({ stored: false, size: 3 });
  });

  test("with a callback waits for room for its result, with heartbeats and without a slot", async () => {
    open({ maxResultBytes: 4, slots: 1 });
    const id = await bench.accept({ callbackUrl: url });
    const full = { status: 200, headers: [], body: Buffer.from("full"), duration: 1 };
    await bench.ledger.putResult("in the way", 1, full, 60_000);
    bench.start();
    await eventually(() => bench.runsOf(id).length === 1, { what: "the run" });
    const other = await bench.accept();
    await eventually(async () => (await bench.entry(other)).state === "done", { what: "the other" });
    expect((await bench.entry(id)).state).toBe("running");
    await bench.ledger.removeResult("in the way", 1);

    expect(await bench.until(id, "done")).toMatchObject({ run: 1, result: { stored: true } });
    await eventually(() => bench.sent.length === 1, { what: "the callback" });
    expect(Buffer.from(bench.sent[0]?.body ?? []).toString()).toBe("out");
    expect(bench.runsOf(id)).toHaveLength(1);
  });

  test("a worker that stops, and a cancel, end that wait", async () => {
    open({ maxResultBytes: 2 });
    const worker = bench.start();
    const [id, cancelled] = [await bench.accept({ callbackUrl: url }), await bench.accept({ callbackUrl: url })];
    await eventually(() => bench.runs.length === 2, { what: "the runs" });
    await cancelCall(bench, cancelled, () => {});
    await eventually(() => bench.calls.size("default") === 1, { what: "the cancelled one to go" });
    expect(await bench.entry(cancelled)).toMatchObject({ state: "cancelled", result: null });
    await worker.stop(50);
    expect(await bench.until(id, "done")).toMatchObject({ run: 1, result: { stored: false } });
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
  test("a retryable response leads to a retry after its wait, with the next attempt's number", async () => {
    open().answer = (_call, { attempt }) => (attempt < 3 ? answered(503) : answered(200));
    bench.start();
    const id = await bench.accept({ callbackUrl: url });
    const entry = await bench.until(id, "done");
    expect(entry).toMatchObject({ run: 3, retries: 2, lost: 0, status: 200 });
    expect(entry.attempts.map(({ status }) => status)).toEqual([503, 503, 200]);
    const [first, second] = bench.runsOf(id);
    expect((second?.startedAt ?? 0) - (first?.startedAt ?? 0)).toBeGreaterThanOrEqual(19);
    await eventually(() => bench.sent.length === 1, { what: "the callback" });
    expect(headerValue(bench.sent[0]?.headers ?? [], "x-retry")).toBe("2");
  });

  test("a waiting call holds no slot", async () => {
    open({ slots: 1 }).answer = (call, { attempt }) =>
      call.path === "/retry" && attempt === 1 ? answered(429, "", ["Retry-After", "1"]) : answered();
    bench.deploy({ "com.service.retry.min_wait": "300ms" });
    const first = await bench.accept({ path: "/retry" });
    const second = await bench.accept();
    bench.start();
    await eventually(async () => (await bench.entry(second)).state === "done", {
      what: "the second call",
    });
    expect((await bench.entry(first)).state).toBe("waiting");
    expect(await bench.until(first, "done")).toMatchObject({ retries: 1 });
    expect(bench.runs.map(({ id }) => id)).toEqual([first, second, first]);
  });

  test("when no attempt is left the call is a dead letter, and is called back", async () => {
    open({ attempts: 2 }).answer = () => ({ kind: "unreachable", error: "reset", sent: true, duration: 1 });
    bench.start();
    const id = await bench.accept({ callbackUrl: url });
    expect(await bench.until(id, "failed")).toMatchObject({
      reason: "exhausted",
      run: 3,
      retries: 2,
      status: 502,
      result: null,
    });
    expect(bench.deadLetters.all()).toMatchObject([
      { kind: "call", id, reason: "exhausted", attempts: 3, lastStatus: 502, redrives: 0 },
    ]);
    await eventually(() => bench.sent.length === 1, { what: "the callback" });
    const { headers = [], body } = bench.sent[0] ?? {};
    expect([
      headerValue(headers, "x-function-status"),
      headerValue(headers, "x-retry"),
      headerValue(headers, "x-retry-max"),
    ]).toEqual(["502", "2", "2"]);
    expect(body?.byteLength).toBe(0);
    expect(headerValue(headers, "x-result-truncated")).toBeUndefined();
  });

  test("a function's own rules come before the queue's", async () => {
    open({ annotations: { "com.service.retry.attempts": "1", "com.service.retry.codes": "418" } }).answer = () =>
      answered(418);
    bench.start();
    const id = await bench.accept();
    expect(await bench.until(id, "failed")).toMatchObject({ reason: "exhausted", run: 2, maxRetries: 1 });
  });

  test("a call requeued too early waits for its time", async () => {
    open();
    const call = sampleCall({ callbackUrl: undefined });
    const next = Date.now() + 400;
    await bench.ledger.create(
      call.id,
      sampleEntry({ state: "waiting", run: 1, retries: 1, next, callback: null }),
      soon(),
    );
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
    await eventually(() => bench.sent.length === 1, { what: "the callback" });
    expect(headerValue(bench.sent[0]?.headers ?? [], "x-function-status")).toBe("404");
  });

  test("a function that the table does not know yet is waited for", async () => {
    open();
    bench.table.functionObserver.removed({ namespace: "functions", name: "echo" });
    bench.start();
    await bench.functions.write({ namespace: "functions", name: "echo" }, () => ({
      namespace: "functions",
      name: "echo",
      deployment: { service: "echo", image: "x" },
      replicas: 1,
      generation: 1,
      createdAt: "",
      updatedAt: "",
    }));
    const id = await bench.accept();
    await eventually(async () => (await bench.entry(id)).retries > 0, { what: "a retry" });
    bench.deploy();
    await bench.until(id, "done");
  });

  test("no replica and a timeout are retried as 503 and 504", async () => {
    open({ attempts: 1 });
    bench.table.endpointsObserver.set({
      namespace: "functions",
      name: "echo",
      addresses: [],
      observedGeneration: 1,
      conditions: [],
    });
    bench.start();
    const id = await bench.accept();
    expect(await bench.until(id, "failed")).toMatchObject({ reason: "exhausted", status: 503, run: 2 });
    expect(bench.runs).toEqual([]);
    bench.table.endpointsObserver.set({
      namespace: "functions",
      name: "echo",
      addresses: ["replica:1"],
      observedGeneration: 1,
      conditions: [],
    });
    bench.answer = (_call, { timeout }) => ({ kind: "timed-out", duration: timeout });
    const slow = await bench.accept();
    expect(await bench.until(slow, "failed")).toMatchObject({ reason: "exhausted", status: 504 });
  });

  test("after a refused connection another replica is tried", async () => {
    open();
    bench.table.endpointsObserver.set({
      namespace: "functions",
      name: "echo",
      addresses: ["replica:1", "replica:2"],
      observedGeneration: 1,
      conditions: [],
    });
    bench.answer = (_call, _options, run) =>
      run.address === "replica:1" ? { kind: "unreachable", error: "refused", sent: false, duration: 1 } : answered();
    bench.start();
    for (let n = 0; n < 3; n++) {
      const id = await bench.accept();
      expect(await bench.until(id, "done")).toMatchObject({ run: 1, retries: 0 });
    }
    expect(bench.table.findKey("echo")?.replicas.map(({ inFlight }) => inFlight)).toEqual([0, 0]);
  });

  test("a replica that refuses as it was just scaled to zero is waited for again", async () => {
    open();
    const readyAt = (addresses: readonly string[]): void =>
      bench.table.endpointsObserver.set({
        namespace: "functions",
        name: "echo",
        addresses,
        observedGeneration: 1,
        conditions: [],
      });
    readyAt(["replica:1"]);
    bench.answer = (_call, _options, run) => {
      if (run.address !== "replica:1") return answered();
      readyAt([]);
      setImmediate(() => readyAt(["replica:2"]));
      return { kind: "unreachable", error: "refused", sent: false, duration: 1 };
    };
    bench.start();
    const id = await bench.accept();
    expect(await bench.until(id, "done")).toMatchObject({ run: 1, retries: 0 });
    expect(bench.runs.map(({ address }) => address)).toEqual(["replica:1", "replica:2"]);
  });

  test("calls that waited for the first replica are sent to it within concurrency.max", async () => {
    open({ annotations: { "com.service.concurrency.max": "1" } });
    const readyAt = (addresses: readonly string[]): void =>
      bench.table.endpointsObserver.set({
        namespace: "functions",
        name: "echo",
        addresses,
        observedGeneration: 1,
        conditions: [],
      });
    readyAt([]);
    let [inFlight, most] = [0, 0];
    bench.answer = async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await new Promise((resolve) => setImmediate(resolve));
      inFlight -= 1;
      return answered();
    };
    const { functions, table } = bench;
    const waker = new Waker({ functions, table, wakeTimeout: patience, maxWaitingCallers: 9, maxWaitingBytes: 1e6 });
    bench.start({ waker });
    const ids = [await bench.accept(), await bench.accept()];
    await eventually(() => waker.waitingCallers === ids.length, { what: "both to wait" });
    readyAt(["replica:1"]);
    const ended = await Promise.all(ids.map((id) => bench.until(id, "done")));
    expect(most).toBe(1);
    expect(Math.max(...ended.map(({ retries }) => retries))).toBeGreaterThan(0);
  });

  test("a replica that became ready and ended is waited for no longer than the wake timeout in all", async () => {
    open({ attempts: 0 });
    const readyAt = (addresses: readonly string[]): void =>
      bench.table.endpointsObserver.set({
        namespace: "functions",
        name: "echo",
        addresses,
        observedGeneration: 1,
        conditions: [],
      });
    readyAt([]);
    bench.answer = () => {
      readyAt([]);
      return { kind: "unreachable", error: "refused", sent: false, duration: 1 };
    };
    const parts = bench.parts();
    const since: (number | undefined)[] = [];
    const wait: Waker["wait"] = (entry, caller) => {
      since.push(caller?.since);
      if (since.length === 1) setImmediate(() => readyAt(["replica:1"]));
      return parts.waker.wait(entry, caller);
    };
    bench.start({ waker: { wait } });
    const id = await bench.accept();
    expect(await bench.until(id, "failed")).toMatchObject({ status: 503, reason: "exhausted" });
    expect(since).toHaveLength(2);
    expect(since[0]).toBeDefined();
    expect(since[1]).toBe(since[0]);
  });
});

describe("cancel", () => {
  test("a running call is aborted at once, has no result and is not called back", async () => {
    open({ ackWait: 60_000 }).answer = hang;
    const worker = bench.start();
    const id = await bench.accept({ callbackUrl: url });
    const run = await eventually(() => bench.runsOf(id)[0], { what: "the run" });
    await cancelCall(bench, id, () => {});
    await eventually(() => run.signal.aborted, { what: "the run to be cut off" });
    await bench.until(id, "cancelled");
    await eventually(() => (bench.ledger.timeLeft(id) ?? 0) <= bench.times.callRecordTtl, {
      what: "the last time to live",
    });
    expect(worker.running).toBe(0);
    expect(bench.sent).toEqual([]);
    expect(bench.callbacks.size).toBe(0);
  });

  test("a cancel is noticed at the next heartbeat when its signal was lost", async () => {
    open({ ackWait: 300 }).answer = hang;
    bench.start();
    const id = await bench.accept();
    const run = await eventually(() => bench.runsOf(id)[0], { what: "the run" });
    const silent = { cancelled: () => {}, ended: () => {}, onCancelled: () => () => {}, onEnded: () => () => {} };
    await cancelCall({ ledger: bench.ledger, signals: silent }, id, () => {});
    await eventually(() => run.signal.aborted, { what: "the run to be cut off" });
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
    await eventually(async () => (await bench.entry(waiting)).state === "waiting", {
      what: "the wait",
    });
    await cancelCall(bench, waiting, () => {});
    await bench.until(waiting, "cancelled");
    expect(bench.runsOf(waiting).length).toBe(1);
  });

  test("a cancel during the response: the record decides, and the message is settled", async () => {
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

  test("a signal for a call that was not cancelled does nothing", async () => {
    let finish: () => void = () => {};
    open().answer = () => new Promise((resolve) => (finish = () => resolve(answered())));
    bench.start();
    const id = await bench.accept();
    await eventually(() => bench.runsOf(id).length === 1, { what: "the run" });
    bench.signals.cancelled(id);
    await eventually(async () => (await bench.entry(id)).state === "running", {
      what: "the run to go on",
    });
    finish();
    await bench.until(id, "done");
  });
});
