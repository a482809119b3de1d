import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsQueueStates } from "../../runtime/adapters/nats/queues/nats-queue-states.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { eventually } from "../support/eventually.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { queueDesk, type QueueDesk } from "../support/queue-desk.ts";

/** What a call waits for, as seen from outside: one worker, two slots, one function that the test controls. */
let platform: Platform;
let desk: QueueDesk;
let server: FunctionServer;
const open: (() => void)[] = [];

beforeAll(async () => {
  platform = await openPlatform({ slots: 2, retryMinWait: 3_000, retryMaxWait: 3_000 });
  desk = queueDesk(platform);
  server = await openFunctionServer((request, response) => {
    const status = request.url === "/busy" ? 503 : 200;
    open.push(() => response.writeHead(status).end());
    if (request.url !== "/held") open.pop()?.();
  });
  await platform.deploy("held", { addresses: [server.address] });
});
afterEach(() =>
  eventually(
    async () => {
      replyAll();
      const { queued, waiting, running } = await desk.status();
      return queued === 0 && waiting === 0 && running === 0;
    },
    { every: 50, what: "the queue to be empty" },
  ),
);
afterAll(async () => {
  replyAll();
  await platform?.close();
  await server?.close();
});

const held = () => platform.calls.accepted("held", { tail: "/held" });
const replyAll = () => {
  for (const reply of open.splice(0)) reply();
};

test("an idle queue has no calls in any state", async () => {
  await desk.until(({ workers }) => workers === 1);
  const reply = await desk.send("GET", "/system/queues");
  expect(JSON.parse(reply.body.toString())).toEqual([
    {
      name: "default",
      queued: 0,
      waiting: 0,
      running: 0,
      deadLetters: 0,
      workers: 1,
      maxInflight: 2,
      timeout: "10s",
      ackWait: "2s",
      oldestAgeSeconds: 0,
      limit: 100_000,
    },
  ]);
});

test("with all slots in use calls wait, and each has its position", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 6; n++) ids.push(await held());
  const status = await desk.until(({ running, queued }) => running === 2 && queued === 4);
  expect(status).toMatchObject({ waiting: 0, workers: 1, why: expect.stringContaining("All 2 slots run calls") });
  await eventually(async () => (await desk.status()).oldestAgeSeconds > 0.2, { what: "the age" });
  const positions = await Promise.all(ids.map(async (id) => (await platform.calls.status(id))?.queuePosition));
  expect(positions.slice(0, 2)).toEqual([undefined, undefined]);
  const places = positions.slice(2).map((position) => position ?? 0);
  expect(places.toSorted((a, b) => a - b)).toEqual(places);
  expect(Math.min(...places)).toBeGreaterThanOrEqual(1);
  // An estimate from the time of acceptance, behind which the broker's time may lag by more than a neighbour's.
  expect(Math.max(...places)).toBeLessThanOrEqual(4);
  expect(places.at(-1)).toBeGreaterThan(places[0] ?? 0);
});

test("a call between two attempts waits, and takes no slot", async () => {
  const id = await platform.calls.accepted("held", { tail: "/busy" });
  await platform.calls.until(id, ["waiting"]);
  const status = await desk.until(({ waiting, running }) => waiting === 1 && running === 0);
  expect(status).toMatchObject({ queued: 0, why: expect.stringContaining("nextAttemptAt") });
  expect((await platform.calls.status(id))?.queuePosition).toBeUndefined();
  await platform.calls.cancel(id);
  await desk.until(({ waiting, running }) => waiting === 0 && running === 0);
});

test("the depth of the queue per function is told to the autoscaler and in metrics", async () => {
  const submitted = await platform.metric(platform.worker, "queue_worker_messages_submitted_total");
  for (let n = 0; n < 3; n++) await held();
  const access = platform.server.access("autoscaler");
  const link = await NatsLink.open({ ...access, name: "autoscaler", pingInterval: 5_000 });
  const { byFunction } = await new NatsQueueStates(link).depths("default");
  await link.close();
  expect([...byFunction]).toEqual([["held.functions", 3]]);
  const labels = { queue_name: "default", function_name: "held.functions" };
  expect(await platform.metric(platform.worker, "queue_worker_pending_messages", labels)).toBe(3);
  expect(
    await platform.metric(platform.worker, "queue_worker_messages_submitted_total", { queue_name: "default" }),
  ).toBe(submitted + 3);
});

test("without a queue-worker the status says so", async () => {
  await platform.worker.stop();
  await platform.calls.accepted("held");
  const status = await desk.until(({ workers }) => workers === 0);
  expect(status).toMatchObject({ queued: 1, why: expect.stringContaining("No queue-worker takes from it") });
  await platform.worker.start();
  await desk.until(({ queued, workers }) => queued === 0 && workers === 1);
});

test("without the broker it is 503, and a queue that is not declared is 404", async () => {
  const missing = await desk.send("GET", "/system/queue/none");
  expect([missing.status, missing.body.toString()]).toEqual([
    404,
    expect.stringContaining(`edition "pro" has no others, they need edition "enterprise"`),
  ]);
  await platform.server.pause();
  try {
    const reply = await desk.send("GET", "/system/queues");
    expect(reply.status).toBe(503);
  } finally {
    platform.server.resume();
  }
});
