import { randomUUID } from "node:crypto";

import { afterAll, beforeAll, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import type { FunctionServer } from "../support/function-server.ts";
import type { Platform } from "../support/platform.ts";

let bench: FaultBench;
let platform: Platform;
let echo: FunctionServer;
let release = (): void => {};

beforeAll(async () => {
  bench = await openFaultBench();
  ({ platform } = bench);
  echo = await bench.open("echo", (_request, response, body) => {
    if (body === "slow") release = () => void response.end(body);
    else response.end(body);
  });
});

afterAll(() => bench?.close());

const runsOf = (id: string) => echo.requests.filter((request) => request.headers["x-call-id"] === id);

test("FW15 one call 50 times at once, while it runs, later, after a broker restart: one run, one reply", async () => {
  const id = randomUUID();
  const send = () => platform.calls.queue("echo", { id, body: "slow" });
  const replies = await Promise.all(Array.from({ length: 50 }, send));
  await platform.calls.until(id, ["running"]);
  replies.push(await send());
  await eventually(() => runsOf(id).length > 0, { what: "the run" });
  release();
  await platform.calls.ended(id);
  replies.push(await send());
  await platform.server.restart();
  replies.push(await eventually(async () => (await send()).status === 202 && send(), { what: "202" }));

  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]));
  expect(new Set(replies.map(({ headers }) => headers.get("x-call-id")))).toEqual(new Set([id]));
  expect(new Set(replies.map(({ headers }) => headers.get("x-start-time"))).size).toBe(1);
  await expect.poll(async () => (await platform.broker.calls()).messages).toBe(0);
  expect(runsOf(id)).toHaveLength(1);
});

test("an id in upper case is the same id", async () => {
  const id = randomUUID();
  const reply = await platform.calls.queue("echo", { id: id.toUpperCase() });

  expect(reply.headers.get("x-call-id")).toBe(id);
  expect((await platform.calls.ended(id)).state).toBe("done");
  expect((await platform.calls.status(id.toUpperCase()))?.callId).toBe(id);
});

test("an id that is not a UUID is replaced by a new one", async () => {
  const reply = await platform.calls.queue("echo", { id: "order-17" });

  expect(reply.status).toBe(202);
  expect(reply.headers.get("x-call-id")).toMatch(/^[0-9a-f-]{36}$/);
});

test("another call with the id has a derived one, always the same, and tells the function the first", async () => {
  const id = randomUUID();
  await platform.calls.accepted("echo", { id, body: "first" });
  const derived = await platform.calls.accepted("echo", { id, body: "second" });
  const again = await platform.calls.accepted("echo", { id, body: "second" });
  const third = await platform.calls.accepted("echo", { id, body: "second", tail: "?other" });

  expect(derived).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(again).toBe(derived);
  expect(new Set([id, derived, third]).size).toBe(3);
  for (const each of [id, derived, third]) expect((await platform.calls.ended(each)).state).toBe("done");
  await expect.poll(async () => (await platform.broker.calls()).messages).toBe(0);
  expect(runsOf(derived)).toHaveLength(1);
  expect(runsOf(derived)[0]?.headers["x-parent-call-id"]).toBe(id);
  expect(runsOf(id)[0]?.headers["x-parent-call-id"]).toBeUndefined();
});

test("afterwards I1 to I10 hold", async () => {
  const { violations } = await bench.settle();
  expect(violations).toEqual([]);
});
