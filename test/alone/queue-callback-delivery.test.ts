import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { callbackOf, callbackSettled } from "../support/callback-state.ts";
import { openCallbackSink, type CallbackSink } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { freePort } from "../support/free-port.ts";
import { openFunctionServer, openRawFunction, type FunctionServer } from "../support/function-server.ts";
import type { Platform } from "../support/platform.ts";

let bench: FaultBench;
let platform: Platform;
let echo: FunctionServer;
let sink: CallbackSink;

beforeAll(async () => {
  bench = await openFaultBench({
    slots: 4,
    callbackWindow: 3_000,
    worker: {
      preload: [
        `${network}?private.example=10.1.2.3&turning.example=none,10.1.2.3&mixed.example=93.184.216.34%2B10.1.2.3` +
          "&public.example=93.184.216.34,10.1.2.3&dial=93.184.216.34~127.0.0.1",
      ],
    },
    workerFlags: ["--callback-policy=public", "--callback-allow=127.0.0.1"],
  });
  ({ platform, sink } = bench);
  echo = await bench.open("echo", (_request, response, body) => response.end(Buffer.from(body, "latin1")));
});

beforeEach(() => sink.answerAlways({ kind: "status", status: 200 }));

afterAll(() => bench?.close());

/** The resolver and the dialler of this test: nothing leaves loopback. */
const network = new URL("../support/preload/callback-network.ts", import.meta.url).href;

const settled = (id: string, within?: number) => callbackSettled(platform, id, within);

test("FC1 a callback is retried until the target returns 2xx, without a further run of the function", async () => {
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

test("FC1 a callback waits for a target that does not listen yet", async () => {
  const port = await freePort();
  const id = await platform.calls.accepted("echo", { callbackUrl: `http://127.0.0.1:${port}/callback`, body: "hi" });
  await eventually(async () => ((await callbackOf(platform, id))?.attempts ?? 0) >= 2, {
    what: "two attempts",
  });
  const late = await openCallbackSink({ port });

  expect((await late.waitFor(id, 3_000)).body.toString()).toBe("hi");
  expect(await settled(id)).toMatchObject({ state: "sent" });
  await late.close();
});

test("FC1 a 404 ends a callback at once: dead letter with output and headers, no further run", async () => {
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

test("FC1 a callback is given up after the window: dead letter", async () => {
  sink.answerAlways({ kind: "status", status: 503 });
  const id = await platform.calls.accepted("echo", { callbackUrl: sink.url });
  const callback = await settled(id);

  expect(callback).toMatchObject({ state: "failed", status: 503 });
  expect(callback.attempts).toBeGreaterThanOrEqual(4);
  expect(await platform.broker.deadLetter(id, "callback")).toBeDefined();
  await expect.poll(async () => (await platform.broker.callbacks()).messages).toBe(0);
});

test("FC2 200 callbacks to a target that hangs: four at once, and others arrive within 2 s", async () => {
  const hanging = await openFunctionServer(() => undefined);
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, hanging.open)), 5);
  const { sent } = await bench.load({
    functionName: "echo",
    rate: 200,
    count: 200,
    timeout: 15_000,
    callbackUrl: `http://${hanging.address}/`,
  });
  await eventually(() => hanging.open === 4, { every: 5, what: "all slots of that host to be taken" });
  const others: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    const id = await platform.calls.accepted("echo", { callbackUrl: sink.url });
    const { at } = await sink.waitFor(id, 15_000);
    others.push(at - Date.parse((await platform.calls.ended(id)).endedAt ?? ""));
  }
  // Times three: this is the fast profile.
  expect(Math.max(...others)).toBeLessThan(3 * 2_000);
  clearInterval(watch);
  expect(most).toBe(4);
  await hanging.close();
  for (const { id } of sent) expect((await settled(id, 30_000)).state).toBe("failed");
});

test.each([
  ["resolves to a blocked address", "private.example", 1],
  ["changes to a blocked address", "turning.example", 2],
  ["resolves to a blocked address beside a public one", "mixed.example", 1],
])("FC3 a name that %s: no connection there, a dead letter", async (_what, host, attempts) => {
  const target = await openRawFunction((socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  const port = target.address.split(":")[1] ?? "";
  const id = await platform.calls.accepted("echo", { callbackUrl: `http://${host}:${port}/` });

  const callback = await settled(id, 15_000);
  expect(callback.state).toBe("failed");
  expect(callback.attempts).toBeGreaterThanOrEqual(attempts);
  expect(target.connections).toBe(0);
  expect((await platform.broker.deadLetter(id, "callback"))?.headers.get("Weir-Dead-Reason")).toBe("callback");
  await target.close();
});

test("FC3 a callback to a public name is sent to the address that was checked, once", async () => {
  const target = await openRawFunction((socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  const port = target.address.split(":")[1] ?? "";
  const id = await platform.calls.accepted("echo", { callbackUrl: `http://public.example:${port}/` });
  expect(await settled(id, 15_000)).toMatchObject({ state: "sent", attempts: 1 });
  expect(target.connections).toBe(1);
  await target.close();
});

test("a callback to a queued function has a derived id, and the chain ends", async () => {
  const id = await platform.calls.accepted("echo", {
    callbackUrl: `${platform.url}/async-function/echo`,
    body: "next",
  });
  await settled(id);
  const next = await eventually(() => echo.requests.find((request) => request.headers["x-parent-call-id"] === id), {
    what: "the second run",
  });

  expect(next.body).toBe("next");
  expect(next.headers["x-call-id"]).not.toBe(id);
  expect(next.headers).toMatchObject({ "x-function-status": "200", "x-call-depth": "1" });
});

test("FC4 a function that calls itself back stops at depth 16", async () => {
  const callbackUrl = `${platform.url}/async-function/looping`;
  const looping: FunctionServer = await bench.open("looping", (_request, response) => {
    response.writeHead(200, { "X-Callback-Url": callbackUrl });
    response.end(`round ${looping.requests.length}`);
  });
  const letters = await platform.broker.deadLetters();
  await platform.calls.accepted("looping", { callbackUrl });

  await eventually(async () => (await platform.broker.deadLetters()) > letters, {
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
});

test("afterwards I1 to I10 hold", async () => {
  const { violations } = await bench.settle({ callbacksDue: false });
  expect(violations).toEqual([]);
});
