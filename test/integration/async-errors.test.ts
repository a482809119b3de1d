import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { Acceptances } from "../../runtime/gateway/calls/async/acceptances.ts";
import { eventually } from "../support/eventually.ts";
import { MemoryCallQueue } from "../support/memory/memory-call-queue.ts";
import { openMemoryAsyncInvoker } from "../support/memory-async-invoker.ts";
import { openRawClient } from "../support/raw-client.ts";
import { createTestPlatform, openSyncGateway, type SyncGateway } from "../support/sync-gateway.ts";

const id = "0af76519-16cd-43dd-8448-eb211c80319c";
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test.each([
  ["community", "slow", 403, "edition_limit"],
  ["pro", "none", 403, "edition_limit"],
  ["enterprise", "none", 404, "queue_not_found"],
  ["enterprise", "slow", 202, undefined],
] as const)("in edition %s a call of a function with queue %s is %i", async (edition, queue, status, code) => {
  const { table, deploy } = createTestPlatform();
  deploy("echo", { annotations: { "com.service.queue": queue } });
  const gateway = await openSyncGateway({
    invokeAsync: openMemoryAsyncInvoker(table, { edition, queues: ["default", "slow"] }),
  });
  const response = await fetch(`${gateway.base}/async-function/echo`, {
    method: "POST",
    headers: { accept: "application/json" },
    // The queue is checked before the size of the body.
    body: Buffer.alloc(code === undefined ? 1 : 1_048_577),
  });
  const text = await response.text();
  expect([response.status, text === "" ? undefined : JSON.parse(text).code]).toEqual([status, code]);
  await gateway.close();
});

test("a call without a body and without headers for one is accepted", async () => {
  const { table, deploy } = createTestPlatform();
  deploy("echo", {});
  const gateway = await openSyncGateway({ invokeAsync: openMemoryAsyncInvoker(table) });
  const client = await openRawClient(gateway.port);
  for (const count of [1, 2]) {
    client.send("POST /async-function/echo HTTP/1.1\r\nHost: g\r\n\r\n");
    expect((await client.replies(count))[count - 1]?.status).toBe(202);
  }
  client.close();
  await gateway.close();
});

test("a sender that hangs up is not waited for, and many that wait leave no room for more", async () => {
  const { table, deploy } = createTestPlatform();
  deploy("echo", {});
  /** A queue that answers nothing; a call leaves it when nobody waits for it. */
  const calls = new MemoryCallQueue({ ackWait: 60_000 });
  let waiting = 0;
  calls.put = async (_call, _until, _redrives, isAbandoned = () => false) => {
    waiting += 1;
    await eventually(isAbandoned, { what: "a sender that is gone" });
    waiting -= 1;
    return { kind: "unknown", cause: new Error("nobody waits") };
  };
  let now = 0;
  const acceptances = new Acceptances({ maxCalls: 2, maxBytes: 1_000 }, () => now);
  const gateway = await openSyncGateway({ invokeAsync: openMemoryAsyncInvoker(table, { calls, acceptances }) });
  const clients = await Promise.all([openRawClient(gateway.port), openRawClient(gateway.port)]);
  for (const client of clients)
    client.send("POST /async-function/echo HTTP/1.1\r\nHost: g\r\nContent-Length: 1\r\n\r\nx");
  await eventually(() => waiting === 2, { what: "both calls at the queue" });
  now = 1_000;
  const refused = await fetch(`${gateway.base}/async-function/echo`, { method: "POST", body: "y" });
  expect([refused.status, refused.headers.get("x-call-queued")]).toEqual([503, "no"]);
  expect(await refused.text()).toContain("2 calls wait for the queue already");
  for (const client of clients) client.close();
  await eventually(() => waiting === 0, { what: "no call at the queue" });
  await gateway.close();
});

describe("errors of /async-function/", () => {
  let gateway: SyncGateway;

  beforeAll(async () => {
    gateway = await openSyncGateway({ invokeAsync: (...call) => invokeAsync(...call) });
    const invokeAsync = openMemoryAsyncInvoker(gateway.table);
  });
  afterAll(() => gateway?.close());

  const send = (method: string, path: string): Promise<Response> =>
    fetch(`${gateway.base}/async-function/${path}`, { method });

  test.each([
    ["GET", "echo", 400],
    ["PUT", id, 405],
    ["PATCH", "echo", 405],
    ["GET", `${id}/results`, 400],
    ["DELETE", "echo", 400],
    ["DELETE", `a/b/${id}`, 400],
    ["GET", "", 400],
    ["POST", "echo", 404],
  ])("%s of %j is %i and has a call id", async (method, path, status) => {
    const response = await send(method, path);
    expect([response.status, response.headers.get("x-call-id")]).toEqual([status, expect.stringMatching(uuid)]);
  });

  test.each([
    ["GET", id],
    ["GET", `${id}/result`],
    ["DELETE", id.toUpperCase()],
    ["DELETE", `echo/${id}`],
  ])("%s of the unknown call %j is 404 with that id", async (method, path) => {
    const response = await send(method, path);
    expect([response.status, response.headers.get("x-call-id")]).toEqual([404, id]);
  });

  test("a name in place of an id: the error says what to do", async () => {
    const shown = await send("GET", "echo");
    expect(await shown.text()).toBe(
      'Cannot show call "echo": calls are POSTed; an id is a UUID, expected /async-function/{call-id}[/result]\n',
    );
    const cancelled = await send("DELETE", "echo/17");
    expect(await cancelled.text()).toBe(
      'Cannot cancel call "echo/17": calls are POSTed; an id is a UUID, expected /async-function/[{function}/]{call-id}\n',
    );
  });

  test("405 allows the methods of every path of calls", async () => {
    for (const path of ["echo", randomUUID(), `${randomUUID()}/result`]) {
      for (const method of ["PUT", "PATCH"]) {
        expect((await send(method, path)).headers.get("allow")).toBe("POST, GET, HEAD, DELETE");
      }
    }
  });
});
