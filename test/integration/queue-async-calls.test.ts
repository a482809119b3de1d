import { createHash } from "node:crypto";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";

let platform: Platform;
let echo: FunctionServer;

beforeAll(async () => {
  platform = await openPlatform();
  echo = await openFunctionServer((request, response, body) => {
    response.writeHead(Number(request.headers["x-wanted-status"] ?? 200), {
      "Content-Type": "text/x-echo; charset=utf-8",
      "X-Answer": "42",
    });
    response.end(Buffer.from(`echo ${body}`, "latin1"));
  });
  await platform.deploy("echo", { addresses: [echo.address] });
});

afterAll(async () => {
  await platform?.close();
  await echo?.close();
});

const runsOf = (id: string) => echo.requests.filter((request) => request.headers["x-call-id"] === id);

describe("acceptance", () => {
  test("202 is empty and carries the call id and the start in nanoseconds", async () => {
    const before = BigInt(Date.now()) * 1_000_000n;
    const reply = await platform.calls.queue("echo", { body: "hello" });

    expect(reply.status).toBe(202);
    expect(reply.body.byteLength).toBe(0);
    expect(reply.headers.get("x-call-id")).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    const start = BigInt(reply.headers.get("x-start-time") ?? "0");
    expect(start >= before && start <= BigInt(Date.now() + 1) * 1_000_000n).toBe(true);
  });

  test("the function gets method, path, query, headers and body as they were sent", async () => {
    const bytes = new Uint8Array(256).map((_, index) => index);
    const headers = { "content-type": "application/x-bytes", "x-custom": "a, b", connection: "close" };
    const id = await platform.calls.accepted("echo", { tail: "/a%2Fb//c?x=1&y=%20", headers, body: bytes });
    await platform.calls.ended(id);

    const [run, ...more] = runsOf(id);
    expect(more).toEqual([]);
    expect(run).toMatchObject({
      method: "POST",
      target: "/a%2Fb//c?x=1&y=%20",
      body: Buffer.from(bytes).toString("latin1"),
    });
    expect(run?.headers).toMatchObject({
      "content-type": "application/x-bytes",
      "content-length": "256",
      "x-custom": "a, b",
      "x-call-id": id,
      "x-call-attempt": "1",
      host: echo.address,
    });
    expect(run?.headers["traceparent"]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
  });

  test("the start that the function sees is that of the acceptance", async () => {
    const reply = await platform.calls.queue("echo");
    const id = reply.headers.get("x-call-id") ?? "";
    const record = await platform.calls.ended(id);

    expect(record.startTime).toBe(reply.headers.get("x-start-time"));
    expect(runsOf(id)[0]?.headers["x-start-time"]).toBe(record.startTime);
  });

  test("the administrator's own credentials never reach the function, those of others do", async () => {
    const own = await platform.calls.accepted("echo", { headers: { authorization: platform.authorization } });
    const other = await platform.calls.accepted("echo", { headers: { authorization: "Bearer of-the-client" } });
    await platform.calls.ended(own);
    await platform.calls.ended(other);

    expect(runsOf(own)[0]?.headers["authorization"]).toBeUndefined();
    expect(runsOf(other)[0]?.headers["authorization"]).toBe("Bearer of-the-client");
  });
});

describe("status and result", () => {
  test("the record becomes done with its one attempt, and the status route agrees with the store", async () => {
    const id = await platform.calls.accepted("echo", { body: "x" });
    const record = await platform.calls.ended(id);

    expect(record).toMatchObject({
      callId: id,
      functionName: "echo",
      namespace: "functions",
      queue: "default",
      state: "done",
      retries: 0,
      maxRetries: 3,
      result: { href: `/async-function/${id}/result`, status: 200, size: 6, stored: true },
    });
    expect(record.attempts).toHaveLength(1);
    expect(record.attempts[0]).toMatchObject({ number: 1, status: 200 });
    expect(record.callback).toBeUndefined();
    expect(Date.parse(record.endedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(record.acceptedAt));
    const stored = await platform.broker.ledger.read(id);
    expect(stored?.entry).toMatchObject({
      v: 2,
      state: "done",
      run: 1,
      lost: 0,
      pending: [],
      owner: null,
      redrives: 0,
    });
  });

  test("the result has the function's body and content type and the platform's headers", async () => {
    const id = await platform.calls.accepted("echo", { body: "grüße" });
    await platform.calls.ended(id);
    const result = await platform.calls.result(id);

    expect(result.status).toBe(200);
    expect(result.body.toString()).toBe("echo grüße");
    expect(result.headers.get("content-type")).toBe("text/x-echo; charset=utf-8");
    expect(result.headers.get("x-function-status")).toBe("200");
    expect(result.headers.get("x-call-id")).toBe(id);
    expect(result.headers.get("x-duration-seconds")).toMatch(/^\d+\.\d{6}$/);
    expect(result.headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("an output of exactly 1 MiB is kept whole, one byte more is not kept", async () => {
    const limit = 1_048_576;
    const big = await openFunctionServer((request, response) =>
      response.end(Buffer.alloc(Number(request.headers["x-size"]), "x")),
    );
    await platform.deploy("big", { addresses: [big.address] });
    const whole = await platform.calls.accepted("big", { headers: { "x-size": String(limit) } });
    const over = await platform.calls.accepted("big", { headers: { "x-size": String(limit + 1) } });
    await platform.calls.ended(whole);
    const record = await platform.calls.ended(over);

    const result = await platform.calls.result(whole);
    expect(createHash("sha256").update(result.body).digest("hex")).toBe(
      createHash("sha256").update("x".repeat(limit)).digest("hex"),
    );
    expect(record).toMatchObject({ state: "done", result: { size: limit + 1, stored: false } });
    expect((await platform.calls.result(over)).status).toBe(404);
    await big.close();
  });

  test("result.ttl 0 keeps no result", async () => {
    await platform.deploy("forgetful", { addresses: [echo.address], annotations: { "com.service.result.ttl": "0" } });
    const id = await platform.calls.accepted("forgetful");

    expect(await platform.calls.ended(id)).toMatchObject({ state: "done", result: { stored: false } });
    expect((await platform.calls.result(id)).status).toBe(404);
  });

  test("?wait returns at once when the call ends, and when the wait is over", async () => {
    let release = (): void => {};
    const slow = await openFunctionServer((_request, response) => {
      release = () => void response.end("late");
    });
    await platform.deploy("slow", { addresses: [slow.address] });
    const id = await platform.calls.accepted("slow");
    await platform.calls.until(id, ["running"]);

    const early = await platform.calls.send("GET", `/async-function/${id}?wait=200ms`);
    expect(JSON.parse(early.body.toString())).toMatchObject({ state: "running" });
    expect(early.took).toBeGreaterThan(150);
    expect((await platform.calls.result(id)).status).toBe(409);

    const waiting = platform.calls.send("GET", `/async-function/${id}?wait=30s`);
    await expect.poll(() => slow.open).toBe(1);
    const released = performance.now();
    release();
    const reply = await waiting;
    expect(JSON.parse(reply.body.toString())).toMatchObject({ state: "done" });
    // It polls every 5 s.
    expect(performance.now() - released).toBeLessThan(4_000);
    await slow.close();
  });
});

test("calls start in the order in which they were accepted", async () => {
  const ids: string[] = [];
  for (let sequence = 0; sequence < 40; sequence += 1)
    ids.push(await platform.calls.accepted("echo", { body: String(sequence) }));
  for (const id of ids) await platform.calls.ended(id);

  const order = echo.requests.map((request) => request.headers["x-call-id"] ?? "").filter((id) => ids.includes(id));
  expect(order).toEqual(ids);
});

test("counts what was accepted, run and ended", async () => {
  const accepted = await platform.metric(platform.gateway, "gateway_calls_accepted_total", { queue_name: "default" });
  const done = await platform.metric(platform.worker, "queue_worker_runs_total", {
    queue_name: "default",
    outcome: "done",
  });
  const id = await platform.calls.accepted("echo");
  await platform.calls.ended(id);

  expect(await platform.metric(platform.gateway, "gateway_calls_accepted_total", { queue_name: "default" })).toBe(
    accepted + 1,
  );
  expect(
    await platform.metric(platform.worker, "queue_worker_runs_total", { queue_name: "default", outcome: "done" }),
  ).toBe(done + 1);
  expect(await platform.metric(platform.worker, "queue_worker_function_invocation_inflight")).toBe(0);
});
