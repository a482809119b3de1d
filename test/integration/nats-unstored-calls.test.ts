import { afterEach, beforeEach, expect, test } from "vitest";

import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsCallQueue } from "../../runtime/adapters/nats/queues/nats-call-queue.ts";
import { NatsDeadLetters } from "../../runtime/adapters/nats/queues/nats-dead-letters.ts";
import { NatsQueueStore } from "../../runtime/adapters/nats/queues/nats-queue-store.ts";
import { NatsUnstoredCalls } from "../../runtime/adapters/nats/queues/nats-unstored-calls.ts";
import { NatsCallLedger } from "../../runtime/adapters/nats/records/nats-call-ledger.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import type { CallEntry } from "../../runtime/core/calls/call-entry.ts";
import { sampleCall, sampleEntry, sampleQueue, soon } from "../contract/samples.ts";
import { openNatsServer, type TestNatsServer } from "../support/nats-server.ts";

const facts = {
  maxFileStore: 1_073_741_824,
  payloadLimit: 1_048_576,
  maxCallRecords: 10_000,
  replicas: 1,
  oneMachine: true,
};
const queues = [sampleQueue({ ackWait: 1, maxLength: 5_000 })];

let server: TestNatsServer;
let links: NatsLink[];
let ledger: NatsCallLedger;
let calls: NatsCallQueue;
let unstored: NatsUnstoredCalls;
let doctor: NatsLink;

async function connect(user: string): Promise<NatsLink> {
  const link = await NatsLink.open({ name: user, pingInterval: 1_000, ...server.access(user) });
  links.push(link);
  return link;
}

beforeEach(async () => {
  links = [];
  server = await openNatsServer({ users: true });
  doctor = await connect(natsUser.doctor);
  await new NatsQueueStore(doctor, facts).provision(queues);
  const gateway = await connect(natsUser.gateway);
  ledger = new NatsCallLedger(gateway, () => 3_600_000, { accepts: false });
  calls = new NatsCallQueue(gateway);
  unstored = new NatsUnstoredCalls(doctor, 0);
});
afterEach(async () => {
  await Promise.all(links.map((link) => link.close()));
  await server.close();
});

/** A call with a record; `stored`: its queue holds it. */
async function call(over: Partial<CallEntry> = {}, stored = false): Promise<string> {
  const made = sampleCall();
  const created = await ledger.create(made.id, sampleEntry(over, made), soon());
  expect(created.kind).toBe("created");
  if (stored) expect((await calls.put(made, soon(), 0)).kind).toBe("stored");
  return made.id;
}

async function found(from = unstored): Promise<string[]> {
  return (await from.find(queues)).map(({ id }) => id).toSorted();
}

test("finds calls that have not ended and are in no queue, each once", async () => {
  const lost: string[] = [];
  for (const state of ["queued", "running", "waiting"] as const) {
    lost.push(await call({ state }));
    await call({ state }, true);
  }
  for (const state of ["done", "failed", "cancelled"] as const) await call({ state });
  expect(await found()).toEqual(lost.toSorted());
  expect(await found()).toEqual([]);
  unstored.restart();
  expect(await found()).toEqual(lost.toSorted());
});

test("finds one among thousands that wait in the queue, and reads each record once", async () => {
  await Promise.all(Array.from({ length: 1_200 }, () => call({}, true)));
  expect(await found()).toEqual([]);
  const lost = await call();
  for (let check = 0; check < 20; check++) {
    const ids = await found();
    if (ids.length === 0) continue;
    expect(ids).toEqual([lost]);
    break;
  }
  expect((await doctor.jsm.streams.info("KV_calls")).state.consumer_count).toBe(0);
});

test("a call whose dead letter exists is left to its redrive, and a new one is on its way", async () => {
  const id = await call();
  const letters = new NatsDeadLetters(await connect(natsUser.worker("default")));
  await letters.put({
    kind: "call",
    id,
    queue: "default",
    function: { namespace: "functions", name: "echo" },
    reason: "exhausted",
    attempts: 2,
    lastStatus: 500,
    acceptedAt: 1_800_000_000_000,
    deadAt: 1_800_000_001_000,
    redrives: 0,
    headers: new Map(),
    body: Buffer.from("x"),
  });
  expect(await found()).toEqual([]);
  await call();
  expect(await found(new NatsUnstoredCalls(doctor, 60_000))).toEqual([]);
});

test("waits while the queue has no store", async () => {
  const id = await call();
  await doctor.jsm.streams.delete("Q_default");
  expect(await found()).toEqual([]);
  await new NatsQueueStore(doctor, facts).provision(queues, ["default"]);
  expect(await found()).toEqual([id]);
});
