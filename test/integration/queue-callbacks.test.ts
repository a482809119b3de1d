import { createHash, randomBytes } from "node:crypto";

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { release } from "../../runtime/api/version.ts";
import { openCallbackSink, type CallbackSink } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";

let platform: Platform;
let echo: FunctionServer;
let sink: CallbackSink;

beforeAll(async () => {
  platform = await openPlatform({ slots: 4, retryAttempts: 2, callbackWindow: 3_000 });
  echo = await openFunctionServer((request, response, body) => {
    response.writeHead(Number(request.headers["x-wanted-status"] ?? 200), {
      "Content-Type": "application/x-answer",
      "X-Answer": "42",
      "X-Call-Id": "not-this",
      "X-Function-Name": "not-this",
      "X-Retry": "9",
      "Keep-Alive": "timeout=3",
      "Proxy-Authenticate": "Basic",
    });
    response.end(Buffer.from(body, "latin1"));
  });
  await platform.deploy("echo", { addresses: [echo.address] });
});

afterAll(async () => {
  await platform.close();
  await echo.close();
});

beforeEach(async () => {
  sink = await openCallbackSink();
});

afterEach(() => sink.close());

const callbackOf = async (id: string) => (await platform.calls.status(id))?.callback;
const settled = (id: string, within = 8_000) =>
  eventually(async () => {
    const callback = await callbackOf(id);
    return callback?.state === "pending" ? undefined : callback;
  }, { within, what: `the callback of ${id} to be sent or failed` });

describe("what a callback carries", () => {
  test("the output with the function's headers, overridden by the platform's", async () => {
    const body = randomBytes(5_000);
    const answer = await platform.calls.queue("echo", { callbackUrl: `${sink.url}?token=1`, body, headers: { "x-wanted-status": "201" } });
    const id = answer.headers.get("x-call-id") ?? "";
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
      "x-start-time": answer.headers.get("x-start-time"),
      "user-agent": `queue-worker/${release}`,
      "x-call-depth": "1",
    });
    expect(callback.headers["x-duration-seconds"]).toMatch(/^\d+\.\d{6}$/);
    for (const dropped of ["proxy-authenticate", "keep-alive", "x-result-truncated", "transfer-encoding"]) {
      expect(callback.headers[dropped]).toBeUndefined();
    }
    expect(await settled(id)).toEqual({ url: sink.url, state: "sent", attempts: 1, status: 200 });
    expect(sink.of(id)).toHaveLength(1);
  });

  test("the duration is that of the last run", async () => {
    let runs = 0;
    const slow = await openFunctionServer((_request, response) => {
      runs += 1;
      if (runs === 1) response.writeHead(500).end();
      else setTimeout(() => response.end("late"), 300);
    });
    await platform.deploy("slow", { addresses: [slow.address] });
    const id = await platform.calls.accepted("slow", { callbackUrl: sink.url });
    const callback = await sink.waitFor(id);

    const seconds = Number(callback.headers["x-duration-seconds"]);
    expect(seconds).toBeGreaterThanOrEqual(0.29);
    expect(seconds).toBeLessThan(1);
    expect(callback.headers).toMatchObject({ "x-retry": "1", "x-function-status": "200" });
    await slow.close();
  });

  test("an output over 1 MiB: empty body, marked, with its status", async () => {
    const big = await openFunctionServer((_request, response) => {
      response.writeHead(200, { "Content-Type": "text/plain", "X-Answer": "big" });
      response.end(Buffer.alloc(1_048_577, "x"));
    });
    await platform.deploy("big", { addresses: [big.address] });
    const id = await platform.calls.accepted("big", { callbackUrl: sink.url });
    const callback = await sink.waitFor(id);

    expect(callback.bodySize).toBe(0);
    expect(callback.headers).toMatchObject({ "x-result-truncated": "true", "x-function-status": "200", "content-length": "0" });
    expect(await settled(id)).toMatchObject({ state: "sent" });
    await big.close();
  });

  test("an output of 1 MiB comes whole", async () => {
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

describe("failed calls are called back, too", () => {
  test("rejected: the function's status and output", async () => {
    const id = await platform.calls.accepted("echo", { callbackUrl: sink.url, body: "no", headers: { "x-wanted-status": "422" } });
    const callback = await sink.waitFor(id);

    expect(callback.headers).toMatchObject({ "x-function-status": "422", "x-retry": "0" });
    expect(callback.body.toString()).toBe("no");
    expect(await platform.calls.ended(id)).toMatchObject({ state: "failed", reason: "rejected" });
  });

  test("exhausted: X-Retry equals X-Retry-Max, and the last output comes", async () => {
    const id = await platform.calls.accepted("echo", { callbackUrl: sink.url, body: "sorry", headers: { "x-wanted-status": "500" } });
    const callback = await sink.waitFor(id);

    expect(callback.headers).toMatchObject({ "x-function-status": "500", "x-retry": "2", "x-retry-max": "2" });
    expect(callback.body.toString()).toBe("sorry");
    expect(sink.of(id)).toHaveLength(1);
  });

  test("no connection: 502, empty and not marked as cut", async () => {
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

describe("delivery of callbacks", () => {
  test("is retried apart from the function until the target answers 2xx", async () => {
    sink.answerNext({ kind: "status", status: 500 }, { kind: "reset" }, { kind: "status", status: 429 }, { kind: "status", status: 302, headers: { location: "http://127.0.0.1:1/" } });
    const id = await platform.calls.accepted("echo", { callbackUrl: sink.url, body: "again" });
    const callback = await settled(id);

    expect(callback).toMatchObject({ state: "sent", attempts: 5, status: 200 });
    expect(sink.of(id)).toHaveLength(5);
    expect(new Set(sink.of(id).map(({ bodyHash }) => bodyHash)).size).toBe(1);
    expect(echo.requests.filter((request) => request.headers["x-call-id"] === id)).toHaveLength(1);
    expect(await platform.calls.status(id)).toMatchObject({ state: "done", retries: 0 });
  });

  test("waits for a target that is not up yet", async () => {
    const port = await freePort();
    const id = await platform.calls.accepted("echo", { callbackUrl: `http://127.0.0.1:${port}/callback`, body: "hi" });
    await eventually(async () => ((await callbackOf(id))?.attempts ?? 0) >= 2, { within: 5_000, what: "two attempts" });
    const late = await openCallbackSink({ port });

    expect((await late.waitFor(id, 3_000)).body.toString()).toBe("hi");
    expect(await settled(id)).toMatchObject({ state: "sent" });
    await late.close();
  });

  test("ends at a 404 at once: dead letter with output and headers, the function is not run again", async () => {
    sink.answerAlways({ kind: "status", status: 404 });
    const id = await platform.calls.accepted("echo", { callbackUrl: sink.url, body: "keep me" });

    expect(await settled(id)).toMatchObject({ state: "failed", attempts: 1, status: 404 });
    const letter = await platform.broker.deadLetter(id, "callback");
    expect(Buffer.from(letter?.body ?? []).toString()).toBe("keep me");
    expect(letter?.headers.get("Weir-Dead-Reason")).toBe("callback");
    expect(letter?.headers.get("Weir-Callback")).toBe(sink.url);
    expect(sink.of(id)).toHaveLength(1);
    expect(await platform.calls.status(id)).toMatchObject({ state: "done" });
    expect(echo.requests.filter((request) => request.headers["x-call-id"] === id)).toHaveLength(1);
    await expect.poll(async () => (await platform.broker.callbacks()).messages).toBe(0);
  });

  test("is given up after the window: dead letter", async () => {
    sink.answerAlways({ kind: "status", status: 503 });
    const id = await platform.calls.accepted("echo", { callbackUrl: sink.url });
    const callback = await settled(id);

    expect(callback).toMatchObject({ state: "failed", status: 503 });
    expect(callback.attempts).toBeGreaterThanOrEqual(4);
    expect(await platform.broker.deadLetter(id, "callback")).toBeDefined();
    await expect.poll(async () => (await platform.broker.callbacks()).messages).toBe(0);
  });

  test("a target that hangs holds up nobody else", async () => {
    const hanging = await openFunctionServer(() => undefined);
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, hanging.open)), 5);
    const stuck = await Promise.all(
      Array.from({ length: 12 }, () => platform.calls.accepted("echo", { callbackUrl: `http://${hanging.address}/` })),
    );
    const id = await platform.calls.accepted("echo", { callbackUrl: sink.url });

    await sink.waitFor(id, 6_000);
    await eventually(() => most === 4, { within: 2_000, what: "all slots of that host to be taken" });
    clearInterval(watch);
    expect(most).toBe(4);
    await hanging.close();
    for (const each of stuck) expect((await settled(each, 15_000)).state).toBe("failed");
  });

  test("a callback aimed at a queued function goes under a derived id, and the chain ends", async () => {
    const id = await platform.calls.accepted("echo", { callbackUrl: `${platform.url}/async-function/echo`, body: "next" });
    await settled(id);
    const next = await eventually(() => echo.requests.find((request) => request.headers["x-parent-call-id"] === id), {
      within: 5_000,
      what: "the second run",
    });

    expect(next.body).toBe("next");
    expect(next.headers["x-call-id"]).not.toBe(id);
    expect(next.headers).toMatchObject({ "x-function-status": "200", "x-call-depth": "1" });
  });

  test("a function that calls itself back stops at depth 16", async () => {
    const callbackUrl = `${platform.url}/async-function/looping`;
    const looping = await openFunctionServer((_request, response) => {
      response.writeHead(200, { "X-Callback-Url": callbackUrl });
      response.end(`round ${looping.requests.length}`);
    });
    await platform.deploy("looping", { addresses: [looping.address] });
    const letters = await platform.broker.deadLetters();
    await platform.calls.accepted("looping", { callbackUrl });

    await eventually(async () => (await platform.broker.deadLetters()) > letters, { within: 10_000, what: "the chain to end" });
    expect(looping.requests.map((request) => request.headers["x-call-depth"] ?? "0")).toEqual(
      Array.from({ length: 17 }, (_, depth) => String(depth)),
    );
    const last = looping.requests.at(-1)?.headers["x-call-id"] ?? "";
    expect(await platform.calls.status(last)).toMatchObject({ state: "done", callback: { state: "failed", attempts: 1 } });
    await looping.close();
  });
});
