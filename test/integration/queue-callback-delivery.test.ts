import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";

import { openCallbackSink, type CallbackSink } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";

let platform: Platform;
let echo: FunctionServer;
let sink: CallbackSink;

beforeAll(async () => {
  platform = await openPlatform({ slots: 4, callbackWindow: 3_000 });
  echo = await openFunctionServer((_request, response, body) => response.end(Buffer.from(body, "latin1")));
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
  eventually(
    async () => {
      const callback = await callbackOf(id);
      return callback?.state === "pending" ? undefined : callback;
    },
    { within, what: `the callback of ${id} to be sent or failed` },
  );

test("is retried apart from the function until the target answers 2xx", async () => {
  sink.answerNext(
    { kind: "status", status: 500 },
    { kind: "reset" },
    { kind: "status", status: 429 },
    { kind: "status", status: 302, headers: { location: "http://127.0.0.1:1/" } },
  );
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
  const id = await platform.calls.accepted("echo", {
    callbackUrl: `${platform.url}/async-function/echo`,
    body: "next",
  });
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

  await eventually(async () => (await platform.broker.deadLetters()) > letters, {
    within: 10_000,
    what: "the chain to end",
  });
  expect(looping.requests.map((request) => request.headers["x-call-depth"] ?? "0")).toEqual(
    Array.from({ length: 17 }, (_, depth) => String(depth)),
  );
  const last = looping.requests.at(-1)?.headers["x-call-id"] ?? "";
  expect(await platform.calls.status(last)).toMatchObject({
    state: "done",
    callback: { state: "failed", attempts: 1 },
  });
  await looping.close();
});
