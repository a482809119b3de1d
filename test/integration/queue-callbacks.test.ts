import { createHash, randomBytes } from "node:crypto";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { release } from "../../runtime/api/version.ts";
import { callbackOf, callbackSettled } from "../support/callback-state.ts";
import type { CallbackSink } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { freePort } from "../support/free-port.ts";
import type { FunctionServer } from "../support/function-server.ts";
import type { Platform } from "../support/platform.ts";

let bench: FaultBench;
let platform: Platform;
let echo: FunctionServer;
let sink: CallbackSink;

beforeAll(async () => {
  bench = await openFaultBench({ slots: 4, retryAttempts: 2, callbackWindow: 3_000 });
  ({ platform, sink } = bench);
  echo = await bench.open("echo", (request, response, body) => {
    response.writeHead(Number(request.headers["x-wanted-status"] ?? 200), {
      "Content-Type": "application/x-answer",
      "X-Answer": "42",
      "X-Call-Id": "not-this",
      "X-Function-Name": "not-this",
      "X-Retry": "9",
      "Keep-Alive": "timeout=3",
      "Proxy-Authenticate": "Basic",
      "Set-Cookie": "session=1",
      Authorization: "Bearer of-the-function",
    });
    response.end(Buffer.from(body, "latin1"));
  });
});

afterAll(() => bench?.close());

const settled = (id: string, within?: number) => callbackSettled(platform, id, within);

describe("what a callback carries", () => {
  test("the output with the function's headers, overridden by the platform's", async () => {
    const body = randomBytes(5_000);
    const response = await platform.calls.queue("echo", {
      callbackUrl: `${sink.url}?token=1`,
      body,
      headers: { "x-wanted-status": "201" },
    });
    const id = response.headers.get("x-call-id") ?? "";
    const callback = await sink.waitFor(id);

    expect(callback.method).toBe("POST");
    expect(callback.target).toBe("/callback?token=1");
    expect(callback.bodyHash).toBe(createHash("sha256").update(body).digest("hex"));
    expect(callback.headers).toMatchObject({
      "content-type": "application/x-answer",
      "content-length": "5000",
      "x-answer": "42",
      "x-call-id": id,
      "x-function-name": "echo",
      "x-function-status": "201",
      "x-retry": "0",
      "x-retry-max": "2",
      "x-start-time": response.headers.get("x-start-time"),
      "user-agent": `queue-worker/${release}`,
      "x-call-depth": "1",
    });
    expect(callback.headers["x-duration-seconds"]).toMatch(/^\d+\.\d{6}$/);
    for (const dropped of [
      "proxy-authenticate",
      "keep-alive",
      "x-result-truncated",
      "transfer-encoding",
      "set-cookie",
      "authorization",
    ]) {
      expect(callback.headers[dropped]).toBeUndefined();
    }
    expect(await settled(id)).toEqual({
      url: sink.url,
      state: "sent",
      attempts: 1,
      status: 200,
      tries: [{ number: 1, at: expect.any(String), status: 200, durationSeconds: expect.any(Number) }],
    });
    expect(sink.of(id)).toHaveLength(1);
  });

  test("the duration is that of the last run", async () => {
    let runs = 0;
    await bench.open("slow", (_request, response) => {
      runs += 1;
      if (runs === 1) setTimeout(() => response.writeHead(500).end(), 3_000);
      else setTimeout(() => response.end("late"), 300);
    });
    const id = await platform.calls.accepted("slow", { callbackUrl: sink.url });
    const callback = await sink.waitFor(id);

    const seconds = Number(callback.headers["x-duration-seconds"]);
    expect(seconds).toBeGreaterThanOrEqual(0.29);
    expect(seconds).toBeLessThan(3);
    expect(callback.headers).toMatchObject({ "x-retry": "1", "x-function-status": "200" });
  });

  test("an output over 1 MiB: empty body, marked, with its status", async () => {
    await bench.open("big", (_request, response) => {
      response.writeHead(200, { "Content-Type": "text/plain", "X-Answer": "big" });
      response.end(Buffer.alloc(1_048_577, "x"));
    });
    const id = await platform.calls.accepted("big", { callbackUrl: sink.url });
    const callback = await sink.waitFor(id);

    expect(callback.bodySize).toBe(0);
    expect(callback.headers).toMatchObject({
      "x-result-truncated": "true",
      "x-function-status": "200",
      "content-length": "0",
    });
    expect(await settled(id)).toMatchObject({ state: "sent" });
  });

  test("an output of 1 MiB arrives whole", async () => {
    const body = randomBytes(1_048_576);
    const id = await platform.calls.accepted("echo", { callbackUrl: sink.url, body });
    const callback = await sink.waitFor(id);

    expect(callback.bodyHash).toBe(createHash("sha256").update(body).digest("hex"));
    expect(callback.headers["x-result-truncated"]).toBeUndefined();
  });

  test("with result.ttl 0 the callback has the output and nothing is left of it", async () => {
    await platform.deploy("forgetful", { addresses: [echo.address], annotations: { "com.service.result.ttl": "0" } });
    const id = await platform.calls.accepted("forgetful", { callbackUrl: sink.url, body: "once" });

    expect((await sink.waitFor(id)).body.toString()).toBe("once");
    await settled(id);
    expect((await platform.calls.result(id)).status).toBe(404);
    await expect.poll(async () => await platform.broker.ledger.readResult(id, 1)).toBeUndefined();
  });
});

describe("failed calls have a callback, too", () => {
  test("rejected: the function's status and output", async () => {
    const id = await platform.calls.accepted("echo", {
      callbackUrl: sink.url,
      body: "no",
      headers: { "x-wanted-status": "422" },
    });
    const callback = await sink.waitFor(id);

    expect(callback.headers).toMatchObject({ "x-function-status": "422", "x-retry": "0" });
    expect(callback.body.toString()).toBe("no");
    expect(await platform.calls.ended(id)).toMatchObject({ state: "failed", reason: "rejected" });
  });

  test("exhausted: X-Retry equals X-Retry-Max, and the last output is sent", async () => {
    const id = await platform.calls.accepted("echo", {
      callbackUrl: sink.url,
      body: "sorry",
      headers: { "x-wanted-status": "500" },
    });
    const callback = await sink.waitFor(id);

    expect(callback.headers).toMatchObject({ "x-function-status": "500", "x-retry": "2", "x-retry-max": "2" });
    expect(callback.body.toString()).toBe("sorry");
    expect(sink.of(id)).toHaveLength(1);
  });

  test("no connection: 502, empty and not marked as truncated", async () => {
    await platform.deploy("away", { addresses: [`127.0.0.1:${await freePort()}`] });
    const id = await platform.calls.accepted("away", { callbackUrl: sink.url });
    const callback = await sink.waitFor(id);

    expect(callback.headers).toMatchObject({ "x-function-status": "502", "x-retry": "2", "content-length": "0" });
    expect(callback.headers["x-result-truncated"]).toBeUndefined();
  });

  test("deleted meanwhile: 404", async () => {
    await platform.deploy("short-lived", { addresses: [echo.address] });
    platform.worker.pause();
    const id = await platform.calls.accepted("short-lived", { callbackUrl: sink.url });
    await platform.undeploy("short-lived");
    platform.worker.resume();

    expect((await sink.waitFor(id)).headers).toMatchObject({ "x-function-status": "404", "x-retry": "0" });
    expect(await platform.calls.ended(id)).toMatchObject({ state: "failed", reason: "function_not_found" });
    expect(await platform.broker.deadLetter(id)).toBeUndefined();
  });
});

test("the record has the error of a callback and the time of its retry", async () => {
  const nobody = `http://127.0.0.1:${await freePort()}/done`;
  const id = await platform.calls.accepted("echo", { callbackUrl: `${nobody}?token=1` });
  const failing = await eventually(
    async () => {
      const callback = await callbackOf(platform, id);
      return callback?.error === undefined ? undefined : callback;
    },
    { what: "a callback that fails" },
  );
  expect(failing).toMatchObject({ url: nobody, state: "pending", error: "the callback could not be sent" });
  const kept = (await platform.broker.ledger.read(id))?.entry.callback;
  expect(kept?.error).toContain("ECONNREFUSED");
  expect(Date.parse(failing.nextAttemptAt ?? "")).toBeGreaterThan(0);

  const given = await settled(id);
  expect(given).toMatchObject({ state: "failed", error: "the callback could not be sent" });
  expect(given).not.toHaveProperty("nextAttemptAt");
});

test("afterwards I1 to I10 hold", async () => {
  const { violations } = await bench.settle({ callbacksDue: false });
  expect(violations).toEqual([]);
});
