import { readFile } from "node:fs/promises";

import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { connect } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { CallEntry } from "../../runtime/core/call-entry.ts";
import type { QueuedCall } from "../../runtime/core/call.ts";
import type { DesiredFunction } from "../../runtime/core/desired-function.ts";
import type { Delivery } from "../../runtime/core/ports/call-queue.ts";
import type { QueueDeclaration } from "../../runtime/core/ports/queue-catalog.ts";
import { addMissingConsumer } from "../../runtime/adapters/nats/consumers.ts";
import { NatsActivity } from "../../runtime/adapters/nats/nats-activity.ts";
import { NatsCallLedger } from "../../runtime/adapters/nats/nats-call-ledger.ts";
import { NatsCallQueue } from "../../runtime/adapters/nats/nats-call-queue.ts";
import { NatsCallSignals } from "../../runtime/adapters/nats/nats-call-signals.ts";
import { NatsCallbackQueue } from "../../runtime/adapters/nats/nats-callback-queue.ts";
import { NatsDeadLetters } from "../../runtime/adapters/nats/nats-dead-letters.ts";
import { NatsEndpoints } from "../../runtime/adapters/nats/nats-endpoints.ts";
import { NatsFunctionStore } from "../../runtime/adapters/nats/nats-function-store.ts";
import { NatsLeases } from "../../runtime/adapters/nats/nats-leases.ts";
import { NatsLink } from "../../runtime/adapters/nats/nats-link.ts";
import { NatsQueueCatalog } from "../../runtime/adapters/nats/nats-queue-catalog.ts";
import { NatsQueueStore } from "../../runtime/adapters/nats/nats-queue-store.ts";
import { callbackSource, callSource } from "../../runtime/adapters/nats/worker-sources.ts";
import { eventually } from "../support/eventually.ts";
import { openNatsServer, type TestNatsServer } from "../support/nats-server.ts";

const queue: QueueDeclaration = {
  name: "default",
  replicas: 1,
  maxInflight: 1,
  timeout: 30_000,
  ackWait: 5_000,
  maxLength: 1_000,
  strict: false,
  retry: { attempts: 1, codes: [500], minWait: 100, maxWait: 1_000 },
};
const ref = { name: "echo", namespace: "functions" };
const wanted: DesiredFunction = {
  ...ref,
  deployment: { service: "echo", image: "echo" },
  replicas: 1,
  generation: 1,
  createdAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-01T00:00:00Z",
};
const entry: CallEntry = {
  v: 1,
  state: "queued",
  queue: "default",
  namespace: ref.namespace,
  function: ref.name,
  digest: "d",
  accepted: "1",
  run: 0,
  retries: 0,
  lost: 0,
  owner: null,
  next: null,
  attempts: [],
  ended: null,
  reason: null,
  status: null,
  result: null,
  owes: [],
  callback: null,
  maxRetries: 1,
  parent: null,
  expires: 0,
  redrives: 0,
};
const result = { status: 200, headers: ["content-type", "text/plain"], body: Buffer.from("out"), duration: 3 };
const ttl = 60_000;
const firstId = "11111111-1111-4111-8111-111111111111";
const secondId = "22222222-2222-4222-8222-222222222222";
const nothing = { set: () => undefined, removed: () => undefined, synced: () => undefined };

let server: TestNatsServer;
const links: NatsLink[] = [];

async function linkOf(user: string): Promise<NatsLink> {
  const link = await NatsLink.open({ ...server.access(user), name: user, pingInterval: 5_000 });
  links.push(link);
  return link;
}

function call(id: string): QueuedCall {
  return {
    id,
    queue: "default",
    function: ref,
    start: 1n,
    depth: 0,
    method: "POST",
    path: "",
    query: undefined,
    callbackUrl: undefined,
    parentId: undefined,
    headers: [],
    body: Buffer.from("in"),
  };
}

function soon(): number {
  return performance.now() + 3_000;
}

/** What the server refused so far. */
async function violations(): Promise<string[]> {
  return (await readFile(server.logFile, "utf8")).split("\n").filter((line) => line.includes("Violation"));
}

/** The server's word on one publish that is not allowed. */
async function refusal(connection: NatsConnection, act: (connection: NatsConnection) => void): Promise<string> {
  const statuses = connection.status();
  act(connection);
  await connection.flush();
  for await (const status of statuses) if (status.type === "error") return status.error.message;
  return "";
}

beforeAll(async () => {
  server = await openNatsServer({ users: true, queues: ["default"], maxFileStore: 4 * 1_073_741_824 });
});

afterAll(async () => {
  for (const link of links) await link.nc.close();
  await server.close();
});

describe("rights of the users of the broker", () => {
  test("are enough for what each part does", async () => {
    const doctor = await linkOf("doctor");
    const facts = {
      maxFileStore: 4 * 1_073_741_824,
      payloadLimit: 1_048_576,
      maxCallRecords: 1_000,
      replicas: 1,
      oneMachine: true,
    };
    await new NatsQueueStore(doctor, facts).provision([queue]);
    await new NatsQueueStore(doctor, facts).provision([queue]);
    const declared = await NatsQueueCatalog.open(doctor);
    await declared.put(queue);
    expect(await declared.list()).toHaveLength(1);
    const doctorLeases = new NatsLeases(doctor);
    expect(await doctorLeases.acquire("process.doctor", "me", 1_000)).toBe(true);
    await doctorLeases.release("process.doctor", "me");

    const gateway = await linkOf("gateway");
    const functions = await NatsFunctionStore.open(gateway);
    await functions.watch(nothing);
    await functions.write(ref, () => wanted);
    expect(await functions.get(ref)).toEqual(wanted);
    expect(await functions.list(ref.namespace)).toHaveLength(1);
    await (await NatsEndpoints.open(gateway)).watch(nothing);
    await (await NatsQueueCatalog.open(gateway)).watch(nothing);
    const ledger = new NatsCallLedger(gateway);
    const created = await ledger.create(firstId, entry, ttl, soon());
    if (created.kind !== "created") throw new Error(`record: ${created.kind}`);
    expect((await new NatsCallQueue(gateway).put(call(firstId), soon())).kind).toBe("stored");
    const refused = await ledger.create(secondId, entry, ttl, soon());
    if (refused.kind !== "created") throw new Error(`record: ${refused.kind}`);
    await ledger.withdraw(secondId, refused.revision);
    const signals = new NatsCallSignals(gateway);
    const ended: string[] = [];
    signals.onEnded((id) => void ended.push(id));
    new NatsActivity(gateway).publish("gateway", []);

    const worker = await linkOf("worker-default");
    await (await NatsFunctionStore.open(worker)).write(ref, (current) => ({ ...(current ?? wanted), replicas: 2 }));
    await (await NatsEndpoints.open(worker)).watch(nothing);
    await (await NatsQueueCatalog.open(worker)).watch(nothing);
    const workerLedger = new NatsCallLedger(worker);
    const read = await workerLedger.read(firstId);
    await workerLedger.update(firstId, { ...entry, state: "running" }, read?.revision ?? 0, ttl);
    expect(await workerLedger.putResult(firstId, 1, result, ttl)).toBe(true);
    expect((await ledger.readResult(firstId, 1))?.status).toBe(200);
    expect((await workerLedger.readResult(firstId, 1))?.status).toBe(200);
    await workerLedger.removeResult(firstId, 1);
    const cancelled: string[] = [];
    const workerSignals = new NatsCallSignals(worker);
    workerSignals.onCancelled((id) => void cancelled.push(id));
    await worker.nc.flush();
    signals.cancelled(firstId);
    workerSignals.ended(firstId);
    expect(await new NatsLeases(worker).acquire("queue.default", "me", 1_000)).toBe(true);
    const callbacks = new NatsCallbackQueue(worker);
    const callback = {
      id: firstId,
      run: 1,
      redrives: 0,
      queue: "default",
      function: ref,
      url: "http://x/",
      depth: 1,
      headers: [],
    };
    expect((await callbacks.put(callback, soon())).kind).toBe("stored");
    const letter = {
      id: firstId,
      queue: "default",
      function: ref,
      reason: "exhausted",
      attempts: 1,
      lastStatus: 500,
    } as const;
    const letterTimes = {
      acceptedAt: 1,
      deadAt: 2,
      redrives: 0,
      headers: new Map<string, string>(),
      body: Buffer.from("x"),
    };
    await new NatsDeadLetters(worker).put({ ...letter, ...letterTimes, kind: "call" });
    const inbox = server.access("worker-default").inboxPrefix;
    expect(await takeOne(callSource(worker, "default", queue.ackWait, inbox))).toBe(true);
    expect(await takeOne(callbackSource(worker, "default", queue.ackWait, inbox))).toBe(true);
    await eventually(() => cancelled.length === 1 && ended.length === 1, { within: 3_000, what: "both signals" });

    const provider = await linkOf("provider");
    await (await NatsFunctionStore.open(provider)).watch(nothing);
    const endpoints = await NatsEndpoints.open(provider);
    await endpoints.publish({ ...ref, addresses: ["127.0.0.1:1"], observedGeneration: 1, conditions: [] });
    expect(await endpoints.list()).toHaveLength(1);
    await endpoints.remove(ref);

    const autoscaler = await linkOf("autoscaler");
    expect(await new NatsLeases(autoscaler).acquire("process.autoscaler", "me", 1_000)).toBe(true);
    new NatsActivity(autoscaler).subscribe(() => undefined);
    await (await NatsEndpoints.open(autoscaler)).watch(nothing);
    const scaled = await NatsFunctionStore.open(autoscaler);
    await scaled.write(ref, (current) => ({ ...(current ?? wanted), replicas: 0 }));
    expect(await functions.remove(ref)).toBe(true);

    expect(await violations()).toEqual([]);
  });

  const api = "$JS.API";
  test.each([
    ["gateway", "take calls", `${api}.CONSUMER.MSG.NEXT.Q_default.workers`],
    ["gateway", "make a consumer of calls", `${api}.CONSUMER.CREATE.Q_default.other`],
    ["gateway", "read a stored call", `${api}.STREAM.MSG.GET.Q_default`],
    ["gateway", "read a stored call directly", `${api}.DIRECT.GET.Q_default.q.default.functions.echo`],
    ["gateway", "delete a stored call", `${api}.STREAM.MSG.DELETE.Q_default`],
    ["gateway", "purge calls", `${api}.STREAM.PURGE.Q_default`],
    ["gateway", "delete a stream", `${api}.STREAM.DELETE.Q_default`],
    ["gateway", "acknowledge calls", "$JS.ACK.Q_default.workers.1.1.1.1.0"],
    ["gateway", "write endpoints", "$KV.endpoints.functions.echo"],
    ["worker-default", "publish a call", "q.default.functions.echo"],
    ["worker-default", "pause its queue", `${api}.CONSUMER.PAUSE.Q_default.workers`],
    ["worker-default", "delete its consumer", `${api}.CONSUMER.DELETE.Q_default.workers`],
    ["worker-default", "make a stream", `${api}.STREAM.CREATE.X`],
    ["worker-default", "write endpoints", "$KV.endpoints.functions.echo"],
    ["worker-default", "take calls of another queue", `${api}.CONSUMER.MSG.NEXT.Q_other.workers`],
    ["worker-default", "take the lease of another queue", "$KV.queues.lease.queue.other"],
    ["provider", "publish a call", "q.default.functions.echo"],
    ["provider", "write functions", "$KV.functions.functions.echo"],
    ["provider", "read a record", `${api}.STREAM.MSG.GET.KV_calls`],
    ["autoscaler", "publish a call", "q.default.functions.echo"],
    ["autoscaler", "write endpoints", "$KV.endpoints.functions.echo"],
    ["autoscaler", "declare a queue", "$KV.queues.default"],
    ["doctor", "publish a call", "q.default.functions.echo"],
  ])("%s may not %s", async (user, _what, subject) => {
    const { url, password, inboxPrefix } = server.access(user);
    const connection = await connect({ servers: url, user, pass: password, inboxPrefix });
    try {
      expect(await refusal(connection, (nc) => nc.publish(subject, ""))).toContain("Permissions Violation for Publish");
    } finally {
      await connection.close();
    }
  });

  test.each([
    ["gateway", "q.>"],
    ["worker-default", "q.>"],
    ["provider", "q.>"],
    ["autoscaler", "q.>"],
    ["doctor", "q.>"],
    ["gateway", "_INBOX.>"],
    ["gateway", "_INBOX.wk-default.>"],
    ["worker-default", "_INBOX.gw.>"],
    ["doctor", "_INBOX.*.*"],
    ["gateway", ">"],
  ])("%s may not listen to %s", async (user, subject) => {
    const { url, password, inboxPrefix } = server.access(user);
    const connection = await connect({ servers: url, user, pass: password, inboxPrefix });
    const subscribe = (nc: NatsConnection): void => void nc.subscribe(subject, { callback: () => undefined });
    try {
      expect(await refusal(connection, subscribe)).toContain("Permissions Violation for Subscription");
    } finally {
      await connection.close();
    }
  });

  test("nobody comes in without a password", async () => {
    await expect(connect({ servers: server.url, reconnect: false })).rejects.toThrow(/authorization/i);
    const wrong = connect({ servers: server.url, user: "gateway", pass: "wrong", reconnect: false });
    await expect(wrong).rejects.toThrow(/authorization/i);
  });

  test("let a worker make its consumer anew", async () => {
    const doctor = await linkOf("doctor");
    const worker = await linkOf("worker-default");
    await doctor.jsm.consumers.delete("Q_default", "workers");
    await addMissingConsumer(worker, "Q_default", "workers", queue.ackWait);
    expect((await doctor.jsm.consumers.info("Q_default", "workers")).name).toBe("workers");
  });

  test("only the doctor sees all streams", async () => {
    const doctor = await linkOf("doctor");
    const names = await (await jetstreamManager(doctor.nc)).streams.names().next();
    expect(names).toEqual(expect.arrayContaining(["Q_default", "CB", "DLQ", "KV_calls", "KV_results", "KV_queues"]));
  });
});

/** Takes and acknowledges one delivery. */
async function takeOne<T>(source: {
  take: (slots: number, handle: (delivery: Delivery<T>) => Promise<void>, signal: AbortSignal) => Promise<void>;
}): Promise<boolean> {
  const stop = new AbortController();
  let confirmed = false;
  const handle = async (delivery: Delivery<T>): Promise<void> => {
    delivery.extend();
    confirmed = await delivery.acknowledge();
    stop.abort();
  };
  await source.take(1, handle, AbortSignal.any([stop.signal, AbortSignal.timeout(10_000)]));
  return confirmed;
}
