import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { queueDesk, type QueueDesk } from "../support/queue-desk.ts";

const queueOf = (queue: string) => ({ "com.service.queue": queue });

describe("named queues", () => {
  let platform: Platform;
  let desk: QueueDesk;
  let server: FunctionServer;
  const open: { readonly name: string; readonly reply: () => void }[] = [];

  beforeAll(async () => {
    platform = await openPlatform({
      queues: {
        slow: { entry: { max_inflight: 2, timeout: "1s", max_length: 3, retry: { attempts: 1, min_wait: "100ms" } } },
        spare: { workers: 0 },
      },
    });
    desk = queueDesk(platform);
    server = await openFunctionServer((request, response) => {
      const hold = request.url?.startsWith("/hold") === true;
      if (hold) open.push({ name: String(request.headers["x-name"]), reply: () => response.end("held") });
      else response.end("ok");
    });
    await platform.deploy("usual", { addresses: [server.address] });
    await platform.deploy("slow", { addresses: [server.address], annotations: queueOf("slow") });
  });
  afterAll(async () => {
    for (const { reply } of open) reply();
    await platform?.close();
    await server?.close();
  });

  test("each has its own workers, slots, timeout and retries", async () => {
    const headers = { "X-Name": "slow" };
    const ids = [
      await platform.calls.accepted("slow", { tail: "/hold", headers }),
      await platform.calls.accepted("slow", { tail: "/hold", headers }),
    ];
    await eventually(() => open.length === 2, { what: "two runs at once" });
    // The one slot of the default queue is still free.
    const usual = await platform.calls.ended(await platform.calls.accepted("usual"));
    expect(usual).toMatchObject({ state: "done", queue: "default", maxRetries: 3 });
    for (const id of ids) {
      const record = await platform.calls.ended(id);
      expect(record).toMatchObject({ state: "failed", reason: "exhausted", queue: "slow", maxRetries: 1, retries: 1 });
      for (const { status, durationSeconds } of record.attempts) {
        expect(status).toBe(504);
        expect(durationSeconds).toBeLessThan(8);
      }
    }
    expect((await desk.letters("", "slow")).items).toHaveLength(2);
    expect((await desk.letters()).items).toEqual([]);
    expect(await platform.metric(platform.worker, "queue_worker_messages_processed_total")).toBe(1);
  });

  test("are listed with their workers, limits and dead letters", async () => {
    const reply = await desk.send("GET", "/system/queues");
    expect(JSON.parse(reply.body.toString())).toMatchObject([
      { name: "default", workers: 1, maxInflight: 1, timeout: "10s", limit: 100_000 },
      { name: "slow", workers: 1, maxInflight: 2, timeout: "1s", limit: 3, deadLetters: 2 },
      { name: "spare", workers: 0 },
    ]);
  });

  test("a full one refuses, the others do not; the error says where to look", async () => {
    await platform.deploy("flood", { addresses: [], annotations: queueOf("spare") });
    const ids: string[] = [];
    for (const worker of platform.workersOf("slow")) worker.pause();
    try {
      for (let n = 0; n < 3; n++) ids.push(await platform.calls.accepted("slow"));
      const refused = await platform.calls.queue("slow");
      expect(refused.status).toBe(429);
      expect(refused.headers.get("x-call-queued")).toBe("no");
      expect(refused.body.toString()).toContain('queue "slow" is full; send it again later, or see /system/queue/slow');
      expect((await platform.calls.queue("flood")).status).toBe(202);
      expect((await platform.calls.queue("usual")).status).toBe(202);
    } finally {
      for (const worker of platform.workersOf("slow")) worker.resume();
    }
    for (const id of ids) expect(await platform.calls.ended(id)).toMatchObject({ state: "done" });
    expect(await desk.until(({ queued }) => queued === 1, "spare")).toMatchObject({
      why: expect.stringContaining("start one with queue=spare"),
    });
  });

  test("the annotation is read at each call, and a queue that is not declared is 404", async () => {
    await platform.deploy("moving", { addresses: [server.address] });
    const first = await platform.calls.accepted("moving");
    await platform.deploy("moving", { addresses: [server.address], annotations: queueOf("slow") });
    const second = await platform.calls.accepted("moving");
    expect([(await platform.calls.ended(first)).queue, (await platform.calls.ended(second)).queue]).toEqual([
      "default",
      "slow",
    ]);
    await platform.deploy("moving", { addresses: [server.address], annotations: queueOf("none") });
    const refused = await platform.calls.queue("moving");
    expect([refused.status, refused.body.toString()]).toEqual([
      404,
      'Cannot find queue "none": it is not declared, only "default", "slow", "spare"; the setting queues declares more\n',
    ]);
  });

  test("workers of all queues send the callbacks of each", async () => {
    const received: string[] = [];
    const sink = await openFunctionServer((request, response) => {
      received.push(String(request.headers["x-call-id"]));
      response.end();
    });
    const ids: string[] = [];
    for (const name of ["slow", "usual", "slow", "usual"]) {
      ids.push(await platform.calls.accepted(name, { callbackUrl: `http://${sink.address}/done` }));
    }
    await eventually(() => received.length === 4, { what: "the callbacks" });
    expect(received.toSorted()).toEqual(ids.toSorted());
    await sink.close();
  });
});

test("an edition without named queues refuses them at deploy", async () => {
  await using platform = await openPlatform();
  const reply = await platform.calls.send("PUT", "/system/functions", {
    headers: { authorization: platform.authorization },
    body: JSON.stringify({ service: "slow", image: "none", annotations: queueOf("slow") }),
  });
  expect([reply.status, reply.body.toString()]).toEqual([
    403,
    'Cannot use queue "slow": edition "community" has only "default", others need edition "enterprise"\n',
  ]);
});
