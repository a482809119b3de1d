import { afterEach, describe, expect, test } from "vitest";

import { headerValue } from "../../../../runtime/core/headers/header-list.ts";
import type { CallbackOutcome, CallbackRequest } from "../../../../runtime/core/ports/callback-sender.ts";
import { ledgerWith, sampleCallback, sampleEntry, soon } from "../../../contract/samples.ts";
import { eventually } from "../../../support/eventually.ts";
import { WorkerBench, type BenchOptions } from "../../../support/worker-bench.ts";

const url = "http://receiver.example/done?secret=1";
let bench: WorkerBench;
const open = (options: BenchOptions = {}): WorkerBench => {
  bench = new WorkerBench(options);
  return bench;
};
afterEach(() => bench.close());

const respondWith = (...statuses: number[]) => {
  bench.callbackAnswer = (): CallbackOutcome => ({
    kind: "responded",
    status: statuses.shift() ?? 200,
    retryAfter: undefined,
  });
};
const settled = () => eventually(() => bench.callbacks.size === 0, { every: 5, what: "the callback to be settled" });
/** A done call with only its callback pending, and the callback in its queue. */
async function pending(over: Parameters<typeof sampleCallback>[0] = {}, withRecord = true) {
  const callback = sampleCallback({ run: 1, url, depth: 0, ...over });
  if (withRecord) {
    const result = { run: 1, size: 3, stored: true, ttl: 60_000 };
    const record = {
      state: "done",
      status: 200,
      ended: Date.now(),
      result,
      callback: { url: callback.url, state: "pending", attempts: 0 },
    } as const;
    await bench.ledger.create(callback.id, sampleEntry(record), soon());
    await bench.ledger.putResult(
      callback.id,
      1,
      { status: 200, headers: [], body: Buffer.from("out"), duration: 1 },
      604_800_000,
    );
  }
  await bench.callbacks.put(callback, soon());
  return callback.id;
}
/** Headers of a request without the three of its signature, which come last. */
const unsigned = (request: CallbackRequest | undefined) => request?.headers.slice(0, -6);
const stateOf = async (id: string) => (await bench.entry(id)).callback;

test("a callback is sent once, with its address, headers and body unchanged", async () => {
  open();
  const id = await pending({ headers: ["X-Own", "1", "X-Call-Id", "id", "Connection", "X-Hop", "X-Hop", "gone"] });
  bench.start();
  await settled();
  expect(bench.sent.length).toBe(1);
  expect(bench.sent[0]?.url).toBe(url);
  expect(unsigned(bench.sent[0])).toEqual(["X-Own", "1", "X-Call-Id", "id"]);
  expect(Buffer.from(bench.sent[0]?.body ?? []).toString()).toBe("out");
  expect(await stateOf(id)).toMatchObject({ state: "sent", attempts: 1, status: 200 });
  expect(bench.ledger.timeLeft(id, 1)).toBeLessThanOrEqual(60_000);
  expect(bench.ledger.timeLeft(id)).toBeLessThanOrEqual(bench.times.callRecordTtl);
});

test("a callback is retried until it is accepted, and every attempt is recorded", async () => {
  open();
  respondWith(503, 500, 302, 204);
  const id = await pending();
  bench.start();
  await settled();
  expect(bench.sent.length).toBe(4);
  const state = await stateOf(id);
  expect(state).toMatchObject({ state: "sent", attempts: 4, status: 204 });
  expect(state?.first).toBeGreaterThan(Date.now() - 10_000);
  expect(state?.until).toBe((state?.first ?? 0) + bench.parts().callbackTimes.window + bench.times.ackWait);
  expect(bench.deadLetters.all()).toEqual([]);
});

test("while a callback fails, its record has the error and the time of the next attempt", async () => {
  open();
  let refuses = true;
  bench.callbackAnswer = (): CallbackOutcome =>
    refuses
      ? { kind: "unreachable", error: "connect ECONNREFUSED" }
      : { kind: "responded", status: 204, retryAfter: undefined };
  const id = await pending();
  bench.start();
  const failing = await eventually(
    async () => {
      const state = await stateOf(id);
      return state?.error === undefined ? undefined : state;
    },
    { every: 5, what: "an attempt that failed" },
  );
  expect(failing).toMatchObject({ state: "pending", error: "connect ECONNREFUSED" });
  expect(failing.next).toBeGreaterThan(failing.first ?? Number.POSITIVE_INFINITY);
  refuses = false;
  await settled();
  const state = await stateOf(id);
  expect(state).toMatchObject({ state: "sent", status: 204 });
  for (const gone of ["error", "next"]) expect(state).not.toHaveProperty(gone);
});

test("a callback that is refused for good is a dead letter with the output; the function is not rerun", async () => {
  open();
  respondWith(410);
  const id = await pending();
  bench.start();
  await settled();
  expect(await stateOf(id)).toMatchObject({ state: "failed", attempts: 1, status: 410, error: "answered 410" });
  const [letter] = bench.deadLetters.all();
  expect(letter).toMatchObject({ kind: "callback", id, reason: "callback", attempts: 1, lastStatus: 410 });
  expect(Buffer.from(letter?.body ?? []).toString()).toBe("out");
  expect(letter?.callback).toMatchObject({ id, url, output: { truncated: false } });
  expect(bench.runs).toEqual([]);
  expect((await bench.entry(id)).state).toBe("done");
});

test("a callback is given up when its window is over", async () => {
  open({ window: 150 });
  bench.callbackAnswer = () => ({ kind: "unreachable", error: "refused" });
  const id = await pending();
  bench.start();
  await settled();
  expect(await stateOf(id)).toMatchObject({ state: "failed" });
  expect(bench.sent.length).toBeGreaterThan(2);
  expect(bench.deadLetters.all()).toMatchObject([
    { kind: "callback", attempts: bench.sent.length, lastStatus: undefined },
  ]);
});

test("a callback to an address that is not allowed is given up at once", async () => {
  open();
  bench.callbackAnswer = () => ({ kind: "forbidden", error: "10.0.0.1 is not public" });
  const id = await pending();
  bench.start();
  await settled();
  expect(await stateOf(id)).toMatchObject({ state: "failed", attempts: 1 });
  expect(bench.sent.length).toBe(1);
});

test("at the end of a chain no callback is sent", async () => {
  open();
  const [deep, deeper] = [await pending({ depth: 15 }), await pending({ depth: 16 })];
  bench.start();
  await settled();
  expect(bench.sent.length).toBe(1);
  expect((await stateOf(deep))?.state).toBe("sent");
  expect((await stateOf(deeper))?.state).toBe("failed");
});

test("a callback whose record is gone is sent without its output, and says so", async () => {
  open();
  await pending({ headers: ["Content-Type", "text/plain", "X-Own", "1"] }, false);
  bench.start();
  await settled();
  expect(unsigned(bench.sent[0])).toEqual(["X-Own", "1", "X-Result-Truncated", "true"]);
  expect(bench.sent[0]?.body.byteLength).toBe(0);
});

test("a callback whose result is gone is sent without it, too", async () => {
  open();
  const id = await pending();
  await bench.ledger.removeResult(id, 1);
  bench.start();
  await settled();
  expect(headerValue(bench.sent[0]?.headers ?? [], "x-result-truncated")).toBe("true");
});

test.each(["sent", "failed"] as const)("a callback that already %s is dropped", async (state) => {
  open();
  const id = await pending();
  const found = await bench.ledger.read(id);
  if (found === undefined) throw new Error("there is no record");
  await bench.ledger.update(id, { ...found.entry, callback: { url, state, attempts: 1 } }, found.revision);
  bench.start();
  await settled();
  expect(bench.sent).toEqual([]);
});

test("a callback whose outcome cannot be written is sent once, and its record written later", async () => {
  open({ ackWait: 1_500 });
  let full = true;
  const unwritable = ledgerWith(bench.ledger, {
    update: async (id, entry, revision) =>
      full && entry.callback?.state === "sent"
        ? { kind: "refused", because: "full" }
        : bench.ledger.update(id, entry, revision),
  });
  bench.start({ ledger: unwritable });
  const id = await bench.accept({ callbackUrl: url });
  await bench.until(id, "done");
  await settled();
  expect(bench.sent.length).toBe(1);
  expect(await stateOf(id)).toMatchObject({ state: "pending", attempts: 0 });
  full = false;
  await eventually(async () => (await stateOf(id))?.state === "sent", { what: "the record to say so" });
  expect(await stateOf(id)).toMatchObject({ attempts: 1, status: 200 });
  expect(bench.sent.length).toBe(1);
  // Its output now lives no longer than one without a callback.
  const shortened = () => (bench.ledger.timeLeft(id, 1) ?? Number.POSITIVE_INFINITY) <= bench.times.callRecordTtl;
  await eventually(shortened, { what: "the output's time to live" });
});

test("callbacks to one host are sent four at a time, while those to others continue", async () => {
  open();
  let active = 0;
  let most = 0;
  const releases: (() => void)[] = [];
  bench.callbackAnswer = (request) => {
    if (!request.url.includes("slow")) return { kind: "responded", status: 200, retryAfter: undefined };
    most = Math.max(most, ++active);
    return new Promise((resolve) => {
      releases.push(() => {
        active--;
        resolve({ kind: "responded", status: 200, retryAfter: undefined });
      });
    });
  };
  for (let n = 0; n < 6; n++) await pending({ url: `http://slow.example/${n}` });
  const quick = await pending({ url: "http://quick.example/" });
  bench.start();
  await eventually(async () => (await stateOf(quick))?.state === "sent", { what: "the quick one" });
  expect(active).toBe(4);
  await eventually(
    () => {
      for (const release of releases.splice(0)) release();
      return bench.callbacks.size === 0;
    },
    { what: "the slow ones" },
  );
  expect(most).toBe(4);
});

test("a callback that is redelivered while it is being sent, as its lease is over, is sent once", async () => {
  const ackWait = 300;
  open({ ackWait });
  let respond: (() => void) | undefined;
  bench.callbackAnswer = () =>
    new Promise((resolve) => {
      respond = () => resolve({ kind: "responded", status: 200, retryAfter: undefined });
    });
  const id = await pending();
  let deliveries = 0;
  const parts = bench.parts();
  bench.start({
    callbackDeliveries: {
      take: (slots, handle, signal) =>
        parts.callbackDeliveries.take(
          slots,
          (delivery) => {
            deliveries += 1;
            // The broker gets no renewal from a suspended worker.
            return handle({ ...delivery, extend: () => false });
          },
          signal,
        ),
    },
  });
  await eventually(() => deliveries > 1 && respond !== undefined, { what: "the callback to come again" });
  respond?.();
  await settled();
  expect(bench.sent).toHaveLength(1);
  expect(await stateOf(id)).toMatchObject({ state: "sent", attempts: 1, status: 200 });
});

test("a callback that gets its response while the worker stops counts as sent", async () => {
  open({ ackWait: 60_000 });
  bench.callbackAnswer = (_request, signal) =>
    new Promise((resolve) =>
      signal.addEventListener("abort", () => resolve({ kind: "responded", status: 200, retryAfter: undefined })),
    );
  const id = await pending();
  const worker = bench.start();
  await eventually(() => bench.sent.length === 1, { what: "the first try" });
  await worker.stop(20);
  expect(await stateOf(id)).toMatchObject({ state: "sent", attempts: 1, status: 200 });
});

test("a callback in flight when the worker stops is sent again by the next worker, and not counted", async () => {
  open({ ackWait: 60_000 });
  bench.callbackAnswer = (_request, signal) =>
    new Promise((resolve) =>
      signal.addEventListener("abort", () => resolve({ kind: "unreachable", error: "stopped" })),
    );
  const id = await pending();
  const worker = bench.start();
  await eventually(() => bench.sent.length === 1, { what: "the first try" });
  await worker.stop(20);
  expect(await stateOf(id)).toMatchObject({ state: "pending", attempts: 0 });
  respondWith(200);
  bench.start();
  await settled();
  expect(await stateOf(id)).toMatchObject({ state: "sent", attempts: 1 });
});

test("a callback that cannot be decoded is a dead letter as it is, and its record says so", async () => {
  open();
  respondWith(503);
  const id = await pending();
  bench.callbacks.putUnreadable(
    new Map([
      ["Weir-Call", id],
      ["Weir-Queue", "other"],
    ]),
    "version is not 1",
  );
  bench.callbacks.putUnreadable(new Map([["Weir-Queue", "no queue!"]]), "version is not 1");
  bench.start();
  await settled();
  const letters = bench.deadLetters.all().toSorted((a, b) => (a.queue < b.queue ? -1 : 1));
  expect(letters).toMatchObject([
    { kind: "callback", queue: "default", reason: "undecodable" },
    { kind: "callback", id, queue: "other", reason: "undecodable" },
  ]);
  expect(letters[0]?.id).toMatch(/^[0-9a-f-]{36}$/);
  expect(await stateOf(id)).toMatchObject({ state: "failed" });
});

test("a callback of a call that was redriven since is still sent, as each end has its own", async () => {
  open();
  const id = await pending();
  const found = await bench.ledger.read(id);
  if (found === undefined) throw new Error("there is no record");
  await bench.ledger.update(id, { ...found.entry, state: "queued", redrives: 1 }, found.revision);
  bench.start();
  await settled();
  expect(bench.sent).toHaveLength(1);
});

describe("after a redrive", () => {
  test("a callback with its output is sent with it, whatever the ledger has, and no result is restored", async () => {
    open();
    const id = await pending({ output: { body: Buffer.from("kept"), truncated: false } });
    await bench.ledger.removeResult(id, 1);
    await pending({ output: { body: Buffer.alloc(0), truncated: true } }, false);
    bench.start();
    await settled();
    const [whole, cut] = bench.sent;
    expect(Buffer.from(whole?.body ?? []).toString()).toBe("kept");
    expect(headerValue(whole?.headers ?? [], "x-result-truncated")).toBeUndefined();
    expect(headerValue(cut?.headers ?? [], "x-result-truncated")).toBe("true");
    expect(await stateOf(id)).toMatchObject({ state: "sent" });
    expect(await bench.ledger.readResult(id, 1)).toBeUndefined();
  });

  test("a callback pending from before is sent with its own run's output and leaves the record alone", async () => {
    open();
    const id = await pending();
    const found = await bench.ledger.read(id);
    if (found === undefined) throw new Error("there is no record");
    const redriven = { ...found.entry, state: "queued", ended: null, result: null, redrives: 1 } as const;
    await bench.ledger.update(id, redriven, found.revision);
    bench.start();
    await settled();
    expect(Buffer.from(bench.sent[0]?.body ?? []).toString()).toBe("out");
    expect(await bench.entry(id)).toMatchObject({ redrives: 1, callback: { state: "pending", attempts: 0 } });
  });

  test("an attempt in flight is not written into the record of the redrive", async () => {
    open();
    const id = await pending();
    bench.callbackAnswer = async () => {
      const found = await bench.ledger.read(id);
      if (found === undefined) throw new Error("there is no record");
      await bench.ledger.update(id, { ...found.entry, redrives: 1 }, found.revision);
      return { kind: "responded", status: 200, retryAfter: undefined };
    };
    bench.start();
    await settled();
    expect(await stateOf(id)).toMatchObject({ state: "pending", attempts: 0 });
  });
});
