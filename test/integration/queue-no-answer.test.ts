import { afterAll, beforeAll, expect, test } from "vitest";

import type { CallbackSink } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { freePort } from "../support/free-port.ts";
import { openFunctionServer, openRawFunction, type FunctionServer } from "../support/function-server.ts";
import type { Platform } from "../support/platform.ts";

let bench: FaultBench;
let platform: Platform;
let sink: CallbackSink;
let sound: FunctionServer;

beforeAll(async () => {
  bench = await openFaultBench({ slots: 8, upstreamTimeout: 1_500, wakeTimeout: 1_000 });
  ({ platform, sink } = bench);
  sound = await openFunctionServer();
});

afterAll(async () => {
  await bench?.close();
  await sound?.close();
});

test.each([
  ["reset before a byte", undefined],
  ["cut in the head", "HTTP/1.1 200 OK\r\nContent-Le"],
  ["cut in the body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"],
  ["malformed", "what is this?\r\n\r\n"],
  ["a broken chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"],
])("FW9 %s: 502, retried, nothing partial is stored or sent as a callback", async (_name, bytes) => {
  const raw = await openRawFunction((socket) => {
    if (bytes === undefined) socket.resetAndDestroy();
    else socket.end(bytes);
  });
  await platform.deploy("raw", { addresses: [raw.address] });
  const id = await platform.calls.accepted("raw", { callbackUrl: sink.url });
  const record = await platform.calls.ended(id);

  expect(record).toMatchObject({
    state: "failed",
    reason: "exhausted",
    retries: 3,
    attempts: Array.from({ length: 4 }, () => ({ status: 502 })),
  });
  expect(record.result).toBeUndefined();
  const callback = await sink.waitFor(id);
  expect(callback.headers).toMatchObject({ "x-function-status": "502", "x-retry": "3", "x-retry-max": "3" });
  expect(callback.bodySize).toBe(0);
  await raw.close();
});

test("no replica in time: 503", async () => {
  await platform.deploy("scaled-to-zero", { addresses: [], annotations: { "com.service.retry.attempts": "0" } });
  const id = await platform.calls.accepted("scaled-to-zero", { callbackUrl: sink.url });

  expect(await platform.calls.ended(id)).toMatchObject({
    state: "failed",
    reason: "exhausted",
    attempts: [{ number: 1, status: 503 }],
  });
  expect((await sink.waitFor(id)).headers).toMatchObject({
    "x-function-status": "503",
    "x-retry": "0",
    "x-retry-max": "0",
  });
});

test("a call waits for a replica that appears in time", async () => {
  await platform.deploy("waking", { addresses: [] });
  const id = await platform.calls.accepted("waking");
  await platform.calls.until(id, ["running"]);
  await platform.deploy("waking", { addresses: [sound.address] });

  expect(await platform.calls.ended(id)).toMatchObject({ state: "done", retries: 0 });
});

test("a replica that refuses is passed over for another", async () => {
  await platform.deploy("half", { addresses: [`127.0.0.1:${await freePort()}`, sound.address] });
  const ids = await Promise.all(Array.from({ length: 6 }, () => platform.calls.accepted("half")));

  for (const id of ids) expect(await platform.calls.ended(id)).toMatchObject({ state: "done", retries: 0 });
});

test("FW6 a function that hangs: its connection is closed at the limit, 504, retried, the slot is free", async () => {
  const hanging = await openFunctionServer(() => undefined);
  await platform.deploy("hanging", {
    addresses: [hanging.address],
    annotations: { "com.service.retry.attempts": "1" },
    envVars: { exec_timeout: "200ms" },
  });
  const start = performance.now();
  const id = await platform.calls.accepted("hanging", { callbackUrl: sink.url });
  await eventually(() => hanging.aborted === 1, { what: "the first run to be cut" });
  expect(performance.now() - start).toBeGreaterThan(1_150);

  expect(await platform.calls.ended(id)).toMatchObject({
    state: "failed",
    reason: "exhausted",
    attempts: [{ status: 504 }, { status: 504 }],
  });
  expect((await sink.waitFor(id)).headers).toMatchObject({
    "x-function-status": "504",
    "x-retry": "1",
    "x-retry-max": "1",
  });
  expect(hanging.open).toBe(0);
  await expect.poll(() => platform.metric(platform.worker, "queue_worker_function_invocation_inflight")).toBe(0);
  await hanging.close();
});

test("the queue's own limit ends a run of any function", async () => {
  const hanging = await openFunctionServer(() => undefined);
  await platform.deploy("endless", {
    addresses: [hanging.address],
    annotations: { "com.service.retry.attempts": "0" },
  });
  const id = await platform.calls.accepted("endless");
  const record = await platform.calls.ended(id);

  expect(record).toMatchObject({ state: "failed", attempts: [{ status: 504 }] });
  expect(record.attempts[0]?.durationSeconds).toBeGreaterThan(1.45);
  // Times three: other tests share the machine.
  expect(record.attempts[0]?.durationSeconds).toBeLessThan(3 * 1.5);
  await hanging.close();
});

test("afterwards I1 to I10 hold", async () => {
  const { violations } = await bench.settle();
  expect(violations).toEqual([]);
});
