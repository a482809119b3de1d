import type { ServerResponse } from "node:http";

import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import type { CallbackSink } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { figure, inWords } from "../support/figure.ts";
import type { FunctionServer } from "../support/function-server.ts";
import type { Platform } from "../support/platform.ts";

/** A cancelled run ends within a third of the lease + 1 s. */
const ackWait = 2_000;

let bench: FaultBench;
let platform: Platform;
let held: FunctionServer;
let failing: FunctionServer;
let sink: CallbackSink;
let pending: ServerResponse[] = [];
/** Callbacks of the bench's first call. */
let calledBack = 0;

beforeAll(async () => {
  bench = await openFaultBench({ ackWait, retryMinWait: 3_000, retryMaxWait: 3_000 });
  ({ platform, sink } = bench);
  held = await bench.open("held", (_request, response) => void pending.push(response));
  failing = await bench.open("failing", (_request, response) => response.writeHead(503).end());
  calledBack = sink.received.length;
});

afterAll(() => bench?.close());

afterEach(async () => {
  releaseAll();
  // A callback sent by mistake would wait in this stream.
  await eventually(
    async () => (await platform.broker.calls()).messages === 0 && (await platform.broker.callbacks()).messages === 0,
    { what: "the streams to be empty" },
  );
  expect(sink.received).toHaveLength(calledBack);
});

function releaseAll(): void {
  for (const response of pending) response.end("released");
  pending = [];
}

/** Queues a call of the function that replies only when released, and waits until it runs. */
async function startHeld(callbackUrl?: string): Promise<string> {
  const id = await platform.calls.accepted("held", callbackUrl === undefined ? {} : { callbackUrl });
  await heldRun(id);
  return id;
}

async function heldRun(id: string): Promise<void> {
  await eventually(() => runsOf(held, id) === 1, { every: 5, what: `the run of ${id}` });
}

const runsOf = (server: FunctionServer, id: string) =>
  server.requests.filter((request) => request.headers["x-call-id"] === id).length;

test("FW17 a queued call behind a long one never starts and its message is removed", async () => {
  const first = await startHeld();
  const queued = await platform.calls.accepted("held", { callbackUrl: sink.url });
  const behind = await platform.calls.accepted("held");
  expect((await platform.calls.status(queued))?.state).toBe("queued");

  const response = await platform.calls.cancel(queued);
  expect(response.status).toBe(202);
  expect(response.body.byteLength).toBe(0);
  expect(await platform.calls.status(queued)).toMatchObject({ state: "cancelled", attempts: [], retries: 0 });
  expect((await platform.calls.status(queued))?.callback).toBeUndefined();

  releaseAll();
  await heldRun(behind);
  releaseAll();
  expect((await platform.calls.ended(first)).state).toBe("done");
  expect((await platform.calls.ended(behind)).state).toBe("done");
  expect(runsOf(held, queued)).toBe(0);
  expect((await platform.calls.result(queued)).status).toBe(404);
});

test("FW17 a call that waits for its retry is not run again", async () => {
  const id = await platform.calls.accepted("failing", { callbackUrl: sink.url });
  const waiting = await platform.calls.until(id, ["waiting"]);
  expect(waiting.nextAttemptAt).toBeDefined();

  expect((await platform.calls.cancel(id)).status).toBe(202);
  const record = await platform.calls.status(id);
  expect(record).toMatchObject({ state: "cancelled", retries: 1 });
  expect(record?.nextAttemptAt).toBeUndefined();
  await eventually(async () => (await platform.broker.calls()).messages === 0, {
    what: "the message to go",
  });
  expect(runsOf(failing, id)).toBe(1);
});

test("FW17 a running call loses its connection within a second and the slot is free again", async () => {
  const times: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const aborted = held.aborted;
    const id = await startHeld(sink.url);

    const start = performance.now();
    expect((await platform.calls.cancel(id)).status).toBe(202);
    await eventually(() => held.aborted === aborted + 1, {
      every: 5,
      what: "the connection to be closed",
    });
    times.push(performance.now() - start);
    pending = [];

    const record = await platform.calls.status(id);
    expect(record).toMatchObject({ state: "cancelled", attempts: [{ number: 1, error: "cancelled" }] });
    expect(record?.result).toBeUndefined();
    expect(runsOf(held, id)).toBe(1);
  }
  figure("S11", `connection closed at most ${inWords(Math.max(...times))} after the cancel, ${times.length} times`);
  // S11, times three: this is the fast profile.
  expect(Math.max(...times)).toBeLessThan(3 * 1_000);
  const next = await startHeld();
  releaseAll();
  expect((await platform.calls.ended(next)).state).toBe("done");
});

test("FW17 a worker that missed the signal learns of the cancel from the record", async () => {
  const aborted = held.aborted;
  const id = await startHeld(sink.url);
  const found = await platform.broker.ledger.read(id);
  if (found === undefined) throw new Error("no record");
  const cancelled = { ...found.entry, state: "cancelled", owner: null, ended: Date.now(), callback: null } as const;
  expect(await platform.broker.ledger.update(id, cancelled, found.revision)).toMatchObject({ kind: "written" });
  const start = performance.now();

  await eventually(() => held.aborted === aborted + 1, {
    within: ackWait / 3 + 1_000,
    what: "the connection to be closed",
  });
  figure(
    "S11",
    `closed after ${inWords(performance.now() - start)} by the record alone, with a lease of ${inWords(ackWait)}`,
  );
  pending = [];
  expect((await platform.calls.status(id))?.state).toBe("cancelled");
});

test("FW17 a finished call is 409 and stays unchanged", async () => {
  const done = await startHeld();
  releaseAll();
  await platform.calls.ended(done);

  const response = await platform.calls.send("DELETE", `/async-function/${done}`, {
    headers: { accept: "application/json" },
  });
  expect(response.status).toBe(409);
  expect(JSON.parse(response.body.toString()).code).toBe("call_finished");
  expect((await platform.calls.status(done))?.state).toBe("done");
  expect((await platform.calls.result(done)).body.toString()).toBe("released");
});

test("FW17 cancelling twice is 202 twice; through another function 404, through its own 202", async () => {
  const first = await startHeld();
  const id = await platform.calls.accepted("held");

  expect((await platform.calls.cancel(id, "failing")).status).toBe(404);
  expect((await platform.calls.status(id))?.state).toBe("queued");
  expect((await platform.calls.cancel(id, "held.openfaas-fn")).status).toBe(202);
  expect((await platform.calls.cancel(id)).status).toBe(202);
  releaseAll();
  await platform.calls.ended(first);
});

test("FW17 ?wait is woken by a cancel", async () => {
  const id = await startHeld();
  const waiting = platform.calls.send("GET", `/async-function/${id}?wait=30s`);
  await platform.calls.cancel(id);
  const start = performance.now();

  expect(JSON.parse((await waiting).body.toString())).toMatchObject({ state: "cancelled" });
  // It polls every 5 s.
  expect(performance.now() - start).toBeLessThan(4_000);
  pending = [];
});

test("FW17 cancel racing the end: done or cancelled, never both", async () => {
  const quick = await bench.open("quick");
  const ids: string[] = [];
  const outcomes = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const id = await platform.calls.accepted("quick");
      ids.push(id);
      if (index % 2 === 0) await eventually(() => runsOf(quick, id) > 0, { every: 1, what: "the run" });
      return { id, status: (await platform.calls.cancel(id)).status };
    }),
  );
  for (const { id, status } of outcomes) {
    const record = await platform.calls.ended(id);
    expect([status, record.state], JSON.stringify(record)).toEqual(status === 202 ? [202, "cancelled"] : [409, "done"]);
    expect(runsOf(quick, id)).toBeLessThanOrEqual(1);
  }
  expect(ids).toHaveLength(60);
});

test("afterwards I1 to I10 hold", async () => {
  const { violations } = await bench.settle();
  expect(violations).toEqual([]);
});
