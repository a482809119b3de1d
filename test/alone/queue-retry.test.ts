import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { CallbackSink } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { figure, inWords } from "../support/figure.ts";
import type { FunctionServer } from "../support/function-server.ts";
import type { Platform } from "../support/platform.ts";
import { notAccepted } from "../support/load.ts";

let bench: FaultBench;
let platform: Platform;
let sink: CallbackSink;
/** Responds with the statuses that the call's path lists, then always with the last; with 200 if it lists none. */
let scripted: FunctionServer;
const arrivals = new Map<string, number[]>();

beforeAll(async () => {
  bench = await openFaultBench({ slots: 8, upstreamTimeout: 1_500, wakeTimeout: 1_000 });
  ({ platform, sink } = bench);
  scripted = await bench.open("scripted", (request, response) => {
    const id = String(request.headers["x-call-id"]);
    const seen = arrivals.get(id) ?? [];
    arrivals.set(id, [...seen, performance.now()]);
    const statuses = (request.url ?? "").split("?", 1)[0]?.match(/\d+/g) ?? [];
    const status = Number(statuses[Math.min(seen.length, statuses.length - 1)] ?? 200);
    const after = request.headers["x-wanted-retry-after"];
    response.writeHead(status, after === undefined ? {} : { "Retry-After": after }).end(`run ${seen.length + 1}`);
  });
});

afterAll(() => bench?.close());

const attemptsOf = (id: string) =>
  scripted.requests
    .filter((request) => request.headers["x-call-id"] === id)
    .map((request) => request.headers["x-call-attempt"]);
const gapsOf = (id: string) => (arrivals.get(id) ?? []).map((at, index, all) => at - (all[index - 1] ?? at)).slice(1);

describe("FW8 which statuses are retried", () => {
  test.each([408, 429, 500, 502, 503, 504])("%i is, and the next reply counts", async (status) => {
    const id = await platform.calls.accepted("scripted", { tail: `/${status},200` });
    const record = await platform.calls.ended(id);

    expect(record).toMatchObject({
      state: "done",
      retries: 1,
      maxRetries: 3,
      attempts: [
        { number: 1, status },
        { number: 2, status: 200 },
      ],
    });
    expect((await platform.calls.result(id)).body.toString()).toBe("run 2");
    expect(attemptsOf(id)).toEqual(["1", "2"]);
  });

  test.each([400, 401, 404, 409, 422, 501, 505])("%i is final", async (status) => {
    const id = await platform.calls.accepted("scripted", { tail: `/${status}`, callbackUrl: sink.url });
    const record = await platform.calls.ended(id);

    expect(record).toMatchObject({ state: "failed", reason: "rejected", retries: 0, attempts: [{ status }] });
    expect((await sink.waitFor(id)).headers["x-function-status"]).toBe(String(status));
    expect(attemptsOf(id)).toEqual(["1"]);
    expect(await platform.broker.deadLetter(id)).toBeUndefined();
    const result = await platform.calls.result(id);
    expect([result.status, result.headers.get("x-function-status")]).toEqual([200, String(status)]);
  });

  test.each([201, 204, 301, 304])("%i is done", async (status) => {
    const id = await platform.calls.accepted("scripted", { tail: `/${status}` });

    expect(await platform.calls.ended(id)).toMatchObject({ state: "done", retries: 0, result: { status } });
  });

  test("a 5xx marked as the gateway's own is, whatever its status", async () => {
    let runs = 0;
    await bench.open("marked", (_request, response) => {
      runs += 1;
      response.writeHead(runs === 1 ? 501 : 200, { "X-OpenFaaS-Internal": "gateway" }).end();
    });
    expect(await platform.calls.ended(await platform.calls.accepted("marked"))).toMatchObject({
      state: "done",
      retries: 1,
    });
  });

  test("the function's annotations override the queue's rules", async () => {
    await platform.deploy("own-rules", {
      addresses: [scripted.address],
      annotations: {
        "com.service.retry.attempts": "1",
        "com.service.retry.codes": "418",
        "com.service.retry.min_wait": "50ms",
        "com.service.retry.max_wait": "50ms",
      },
    });
    const final = await platform.calls.accepted("own-rules", { tail: "/500" });
    const tried = await platform.calls.accepted("own-rules", { tail: "/418", callbackUrl: sink.url });

    expect(await platform.calls.ended(final)).toMatchObject({ state: "failed", reason: "rejected", retries: 0 });
    expect(await platform.calls.ended(tried)).toMatchObject({
      state: "failed",
      reason: "exhausted",
      retries: 1,
      maxRetries: 1,
    });
    expect((await sink.waitFor(tried)).headers).toMatchObject({ "x-retry": "1", "x-retry-max": "1" });
  });
});

/** S12: how late a retry may come, milliseconds; times three, as this is the fast profile. */
const late = 3 * 500;

describe("FW8 when a call is retried", () => {
  test("waits double from the first to the longest, each jittered between half and all of it", async () => {
    const id = await platform.calls.accepted("scripted", { tail: "/500" });
    await platform.calls.ended(id);

    const gaps = gapsOf(id);
    expect(gaps).toHaveLength(3);
    figure("S12", `waits of ${gaps.map(inWords).join(", ")} where 100, 200 and 400 ms are the longest`);
    for (const [retry, gap] of gaps.entries()) {
      const longest = Math.min(100 * 2 ** retry, 1_000);
      expect(gap).toBeGreaterThanOrEqual(longest / 2 - 15);
      expect(gap).toBeLessThanOrEqual(longest + late);
    }
  });

  test("Retry-After of 429 and 503 replaces the wait, but never shortens it below the first", async () => {
    const asked = await platform.calls.accepted("scripted", {
      tail: "/503,200",
      headers: { "x-wanted-retry-after": "1" },
    });
    const never = await platform.calls.accepted("scripted", {
      tail: "/429,200",
      headers: { "x-wanted-retry-after": "0" },
    });
    const ignored = await platform.calls.accepted("scripted", {
      tail: "/500,200",
      headers: { "x-wanted-retry-after": "3600" },
    });
    for (const id of [asked, never, ignored]) await platform.calls.ended(id);

    expect(gapsOf(asked)[0]).toBeGreaterThanOrEqual(990);
    expect(gapsOf(asked)[0]).toBeLessThan(1_000 + late);
    expect(gapsOf(never)[0]).toBeGreaterThanOrEqual(90);
    expect(gapsOf(never)[0]).toBeLessThan(100 + late);
    expect(gapsOf(ignored)[0]).toBeLessThan(100 + late);
  });

  test("FW7 500 calls that wait hold no slot: others start at once", async () => {
    const parked = await Promise.all(
      Array.from({ length: 500 }, () =>
        platform.calls.accepted("scripted", { tail: "/503,200", headers: { "x-wanted-retry-after": "8" } }),
      ),
    );
    for (const id of parked) await platform.calls.until(id, ["waiting"]);
    const sentAt = performance.now();
    const healthy = await Promise.all(
      Array.from({ length: 20 }, () => platform.calls.accepted("scripted", { tail: "/200" })),
    );
    for (const id of healthy) expect((await platform.calls.ended(id)).state).toBe("done");
    const starts = healthy.map((id) => (arrivals.get(id)?.[0] ?? Number.POSITIVE_INFINITY) - sentAt);
    expect(Math.max(...starts)).toBeLessThan(3 * 1_000);

    for (const id of parked) expect((await platform.calls.ended(id)).retries).toBe(1);
    const lastHealthy = Math.max(...healthy.map((id) => arrivals.get(id)?.[0] ?? 0));
    const firstParked = Math.min(...parked.map((id) => arrivals.get(id)?.[1] ?? 0));
    expect(lastHealthy).toBeLessThan(firstParked);
  });
});

test("exhausted: dead letter with the original message, and the callback says so", async () => {
  const body = Buffer.from([0, 1, 2, 255]);
  const id = await platform.calls.accepted("scripted", {
    tail: "/500?q=1",
    callbackUrl: sink.url,
    body: new Uint8Array(body),
  });
  const record = await platform.calls.ended(id);

  expect(record).toMatchObject({ state: "failed", reason: "exhausted", retries: 3, maxRetries: 3 });
  expect(attemptsOf(id)).toEqual(["1", "2", "3", "4"]);
  const callback = await sink.waitFor(id);
  expect(callback.headers).toMatchObject({ "x-function-status": "500", "x-retry": "3", "x-retry-max": "3" });
  expect(callback.body.toString()).toBe("run 4");
  const letter = await eventually(() => platform.broker.deadLetter(id), { what: "the dead letter" });
  expect(Buffer.from(letter.body)).toEqual(body);
  expect(Object.fromEntries(letter.headers)).toMatchObject({
    "Weir-Call": id,
    "Weir-Path": "/500",
    "Weir-Query": "?q=1",
    "Weir-Dead-Reason": "exhausted",
    "Weir-Dead-Attempts": "4",
    "Weir-Dead-Status": "500",
  });
});

test("FW11 a function deleted with 1 000 calls queued: all end as function_not_found, none as dead letters", async () => {
  const letters = await platform.broker.deadLetters();
  await platform.deploy("gone", { addresses: [scripted.address] });
  platform.worker.pause();
  const { sent } = await bench.load({
    functionName: "gone",
    rate: 300,
    count: 1_000,
    callbackUrl: sink.url,
  });
  expect(notAccepted(sent)).toEqual([]);
  const ids = sent.map(({ id }) => id);
  await platform.undeploy("gone");
  const resumed = performance.now();
  platform.worker.resume();

  for (const id of ids)
    expect(await platform.calls.ended(id, 30_000)).toMatchObject({ state: "failed", reason: "function_not_found" });
  for (const id of ids) expect((await sink.waitFor(id, 30_000)).headers["x-function-status"]).toBe("404");
  expect(performance.now() - resumed).toBeLessThan(30_000);
  expect(ids.flatMap(attemptsOf)).toEqual([]);
  expect(await platform.broker.deadLetters()).toBe(letters);
});

test("afterwards I1 to I10 hold", async () => {
  const { violations } = await bench.settle();
  expect(violations).toEqual([]);
});
