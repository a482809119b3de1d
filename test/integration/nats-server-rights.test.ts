import { readFile } from "node:fs/promises";

import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { connect } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { QueuedCall } from "../../runtime/core/calls/call.ts";
import type { DesiredFunction } from "../../runtime/core/functions/desired-function.ts";
import type { Delivery } from "../../runtime/core/ports/call-queue.ts";
import type { QueueDeclaration } from "../../runtime/core/ports/queue-catalog.ts";
import { addMissingConsumer } from "../../runtime/adapters/nats/queues/consumers.ts";
import { NatsHistoryReports } from "../../runtime/adapters/nats/history/nats-history-reports.ts";
import { NatsLetterFacts } from "../../runtime/adapters/nats/history/nats-letter-facts.ts";
import { NatsRecordChanges } from "../../runtime/adapters/nats/history/nats-record-changes.ts";
import { NatsActivity } from "../../runtime/adapters/nats/stores/nats-activity.ts";
import { NatsCallLedger } from "../../runtime/adapters/nats/records/nats-call-ledger.ts";
import { NatsKeptRequests } from "../../runtime/adapters/nats/records/nats-kept-requests.ts";
import { NatsCallQueue } from "../../runtime/adapters/nats/queues/nats-call-queue.ts";
import { NatsCallSignals } from "../../runtime/adapters/nats/records/nats-call-signals.ts";
import { NatsCallbackQueue } from "../../runtime/adapters/nats/queues/nats-callback-queue.ts";
import { NatsDeadLetters } from "../../runtime/adapters/nats/queues/nats-dead-letters.ts";
import { NatsEndpoints } from "../../runtime/adapters/nats/stores/nats-endpoints.ts";
import { NatsFunctionStore } from "../../runtime/adapters/nats/stores/nats-function-store.ts";
import { NatsLeases } from "../../runtime/adapters/nats/stores/nats-leases.ts";
import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsNamespaceStore } from "../../runtime/adapters/nats/stores/nats-namespace-store.ts";
import { NatsQueueCatalog } from "../../runtime/adapters/nats/stores/nats-queue-catalog.ts";
import { NatsQueueStates } from "../../runtime/adapters/nats/queues/nats-queue-states.ts";
import { NatsQueueStore } from "../../runtime/adapters/nats/queues/nats-queue-store.ts";
import { natsUsers } from "../../runtime/api/broker/nats-users.ts";
import { callbackSource, callSource } from "../../runtime/adapters/nats/queues/worker-sources.ts";
import { sampleCall, sampleEntry } from "../contract/samples.ts";
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
const facts = { queues: ["default", "other"], oneMachine: true };
const ref = { name: "echo", namespace: "functions" };
const desired: DesiredFunction = {
  ...ref,
  deployment: { service: "echo", image: "echo" },
  replicas: 1,
  generation: 1,
  createdAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-01T00:00:00Z",
};
const entry = sampleEntry({ digest: "d", maxRetries: 1 }, sampleCall({ function: ref, callbackUrl: undefined }));
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

/** The server's log lines of violations so far. */
async function violations(): Promise<string[]> {
  return (await readFile(server.logFile, "utf8")).split("\n").filter((line) => line.includes("Violation"));
}

/** The server's error after `act`; empty if there is none. */
async function refusal(connection: NatsConnection, act: (connection: NatsConnection) => void): Promise<string> {
  const statuses = connection.status();
  act(connection);
  await connection.flush();
  for await (const status of statuses) if (status.type === "error") return status.error.message;
  return "";
}

beforeAll(async () => {
  server = await openNatsServer({ users: true, queues: facts.queues, maxFileStore: 4 * 1_073_741_824 });
});

afterAll(async () => {
  for (const link of links) await link.nc.close();
  await server?.close();
});

describe("rights of the users of the broker", () => {
  test("are enough for what each part does", async () => {
    const doctor = await linkOf("doctor");
    const store = {
      maxFileStore: 4 * 1_073_741_824,
      payloadLimit: 1_048_576,
      maxCallRecords: 1_000,
      replicas: 1,
      oneMachine: true,
    };
    await new NatsQueueStore(doctor, store).provision([queue]);
    await new NatsQueueStore(doctor, store).provision([queue]);
    const declared = new NatsQueueCatalog(doctor);
    await declared.put(queue);
    expect(await declared.list()).toHaveLength(1);
    const doctorLeases = new NatsLeases(doctor);
    expect(await doctorLeases.acquire("process.doctor", "me", 1_000)).toBe(true);
    await doctorLeases.release("process.doctor", "me");

    const gateway = await linkOf("gateway");
    const functions = new NatsFunctionStore(gateway);
    await functions.watch(nothing);
    await functions.write(ref, () => desired);
    expect(await functions.get(ref)).toEqual(desired);
    expect(await functions.list(ref.namespace)).toHaveLength(1);
    const namespaces = new NatsNamespaceStore(gateway);
    await namespaces.watch(nothing);
    const dev = { name: "dev", labels: {}, annotations: {}, createdAt: desired.createdAt, deleting: true };
    await namespaces.write("dev", () => dev);
    expect(await namespaces.list()).toEqual([dev]);
    await new NatsEndpoints(gateway).watch(nothing);
    await new NatsQueueCatalog(gateway).watch(nothing);
    const ledger = new NatsCallLedger(gateway, () => ttl, { accepts: true });
    const created = await ledger.create(firstId, entry, soon());
    if (created.kind !== "created") throw new Error(`record: ${created.kind}`);
    expect((await new NatsCallQueue(gateway).put(call(firstId), soon())).kind).toBe("stored");
    const refused = await ledger.create(secondId, entry, soon());
    if (refused.kind !== "created") throw new Error(`record: ${refused.kind}`);
    await ledger.withdraw(secondId, refused.revision);
    const signals = new NatsCallSignals(gateway);
    const ended: string[] = [];
    signals.onEnded((id) => void ended.push(id));
    new NatsActivity(gateway).publish({ source: "gateway", number: 1, deltas: [] });

    const worker = await linkOf("worker-default");
    await new NatsFunctionStore(worker).write(ref, (current) => ({ ...(current ?? desired), replicas: 2 }));
    await new NatsEndpoints(worker).watch(nothing);
    await new NatsQueueCatalog(worker).watch(nothing);
    const workerLedger = new NatsCallLedger(worker, () => ttl, { accepts: false });
    const read = await workerLedger.read(firstId);
    await workerLedger.update(firstId, { ...entry, state: "running" }, read?.revision ?? 0);
    expect(await workerLedger.putResult(firstId, 1, result, ttl)).toBe(true);
    expect((await ledger.readResult(firstId, 1))?.status).toBe(200);
    expect((await workerLedger.readResult(firstId, 1))?.status).toBe(200);
    await workerLedger.removeResult(firstId, 1);
    const kept = new NatsKeptRequests(gateway);
    expect(await new NatsKeptRequests(worker).put({ call: call(firstId), redacted: [] }, ttl)).toBe(true);
    expect((await kept.find(ref, firstId))?.call.id).toBe(firstId);
    await kept.remove(ref, firstId);
    await kept.removeNamespace(ref.namespace);
    expect(await kept.find(ref, firstId)).toBeUndefined();
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
    await eventually(() => cancelled.length === 1 && ended.length === 1, { what: "both signals" });

    const provider = await linkOf("provider");
    const provided = new NatsFunctionStore(provider);
    await provided.watch(nothing);
    expect(await provided.list(ref.namespace)).toHaveLength(1);
    const removed = new NatsNamespaceStore(provider);
    await removed.watch(nothing);
    expect(await removed.get("dev")).toEqual(dev);
    await removed.remove("dev");
    expect(await namespaces.get("dev")).toBeUndefined();
    const endpoints = new NatsEndpoints(provider);
    await endpoints.publish({ ...ref, addresses: ["127.0.0.1:1"], observedGeneration: 1, conditions: [] });
    expect(await endpoints.list()).toHaveLength(1);
    await endpoints.remove(ref);

    const history = await linkOf("history");
    const historyLeases = new NatsLeases(history);
    expect(await historyLeases.acquire("process.history", "me", 1_000)).toBe(true);
    await historyLeases.release("process.history", "me");
    const { inboxPrefix: historyInbox } = server.access("history");
    const records = new NatsRecordChanges(history, { inboxPrefix: historyInbox });
    expect(await records.withoutRecord([firstId])).toEqual([]);
    const stopReading = new AbortController();
    const seen: string[] = [];
    for await (const { changes } of records.follow(undefined, stopReading.signal)) {
      for (const change of changes) if (change.kind === "entry") seen.push(change.id);
      if (seen.includes(firstId)) stopReading.abort();
    }
    const letters = new NatsLetterFacts(history, historyInbox);
    for await (const _ of letters.all(new AbortController().signal)) continue;
    await new NatsKeptRequests(history).removeFunction(ref);
    await new NatsNamespaceStore(history).list();
    const reported: string[] = [];
    new NatsHistoryReports(history).subscribe(({ kind }) => void reported.push(kind));
    await history.nc.flush();

    const autoscaler = await linkOf("autoscaler");
    const scaling = { ...ref, at: 1, from: 0, to: 1, reason: "Woken", message: "A call came" };
    for (const link of [gateway, worker, autoscaler])
      new NatsHistoryReports(link).publish({ kind: "scaling", scaling });
    for (const link of [gateway, worker]) new NatsHistoryReports(link).publish({ kind: "rollup", points: [] });
    new NatsHistoryReports(gateway).publish({ kind: "sync", calls: [] });
    await eventually(() => reported.length === 6, { what: "all reports" });
    expect(reported.toSorted()).toEqual(["rollup", "rollup", "scaling", "scaling", "scaling", "sync"]);
    const turns = new NatsLeases(autoscaler);
    expect(await turns.acquire("process.autoscaler", "me", 1_000)).toBe(true);
    await turns.release("process.autoscaler", "me");
    await new NatsQueueStates(autoscaler).depths("default");
    new NatsActivity(autoscaler).subscribe(() => undefined);
    await new NatsEndpoints(autoscaler).watch(nothing);
    const scaled = new NatsFunctionStore(autoscaler);
    await scaled.write(ref, (current) => ({ ...(current ?? desired), replicas: 0 }));
    expect(await functions.remove(ref)).toBe(true);

    expect(await violations()).toEqual([]);
  });

  const api = "$JS.API";
  test.each([
    ["gateway", "take calls", `${api}.CONSUMER.MSG.NEXT.Q_default.workers`],
    ["gateway", "make a consumer of calls", `${api}.CONSUMER.CREATE.Q_default.other`],
    ["gateway", "make a consumer of calls, older form", `${api}.CONSUMER.DURABLE.CREATE.Q_default.other`],
    ["gateway", "make a consumer of callbacks", `${api}.CONSUMER.CREATE.CB.other`],
    ["gateway", "delete a consumer", `${api}.CONSUMER.DELETE.Q_default.workers`],
    ["gateway", "pause a queue", `${api}.CONSUMER.PAUSE.Q_default.workers`],
    ["gateway", "read a stored call", `${api}.STREAM.MSG.GET.Q_default`],
    ["gateway", "read a stored call directly", `${api}.DIRECT.GET.Q_default.q.default.functions.echo`],
    ["gateway", "read a stored callback", `${api}.STREAM.MSG.GET.CB`],
    ["gateway", "delete a stored call", `${api}.STREAM.MSG.DELETE.Q_default`],
    ["gateway", "delete a record", `${api}.STREAM.MSG.DELETE.KV_calls`],
    ["gateway", "purge calls", `${api}.STREAM.PURGE.Q_default`],
    ["gateway", "purge dead letters", `${api}.STREAM.PURGE.DLQ`],
    ["gateway", "change a stream", `${api}.STREAM.UPDATE.Q_default`],
    ["gateway", "delete a stream", `${api}.STREAM.DELETE.Q_default`],
    ["gateway", "take a snapshot", `${api}.STREAM.SNAPSHOT.Q_default`],
    ["gateway", "acknowledge calls", "$JS.ACK.Q_default.workers.1.1.1.1.0"],
    ["gateway", "acknowledge calls, newer form", "$JS.ACK._.x.Q_default.workers.1.1.1.1.0.x"],
    ["gateway", "write results", "$KV.results.id.1"],
    ["gateway", "write a dead letter", "dlq.default.id.call"],
    ["gateway", "declare a queue", "$KV.queues.other"],
    ["gateway", "write endpoints", "$KV.endpoints.functions.echo"],
    ["gateway", "reply for a worker", "_INBOX.wk-default.x"],
    ["worker-default", "publish a call", "q.default.functions.echo"],
    ["worker-default", "publish a call to another queue", "q.other.functions.echo"],
    ["worker-default", "pause its queue", `${api}.CONSUMER.PAUSE.Q_default.workers`],
    ["worker-default", "delete its consumer", `${api}.CONSUMER.DELETE.Q_default.workers`],
    ["worker-default", "make another consumer", `${api}.CONSUMER.CREATE.Q_default.other`],
    ["worker-default", "read stored calls out of turn", `${api}.STREAM.MSG.GET.Q_default`],
    ["worker-default", "delete a stored call", `${api}.STREAM.MSG.DELETE.Q_default`],
    ["worker-default", "purge its queue", `${api}.STREAM.PURGE.Q_default`],
    ["worker-default", "make a stream", `${api}.STREAM.CREATE.X`],
    ["worker-default", "delete a stream", `${api}.STREAM.DELETE.Q_default`],
    ["worker-default", "cancel calls of others", "ctl.cancel"],
    ["worker-default", "declare a queue", "$KV.queues.default"],
    ["worker-default", "take the doctor's lease", "$KV.queues.lease.process.doctor"],
    ["worker-default", "write endpoints", "$KV.endpoints.functions.echo"],
    ["worker-default", "write namespaces", "$KV.namespaces.dev"],
    ["worker-default", "take calls of another queue", `${api}.CONSUMER.MSG.NEXT.Q_other.workers`],
    ["worker-default", "acknowledge calls of another queue", "$JS.ACK.Q_other.workers.1.1.1.1.0"],
    ["worker-default", "dead-letter calls of another queue", "dlq.other.id.call"],
    ["worker-default", "read dead letters", `${api}.STREAM.MSG.GET.DLQ`],
    ["worker-default", "take the lease of another queue", "$KV.queues.lease.queue.other"],
    ["worker-other", "take calls of the default queue", `${api}.CONSUMER.MSG.NEXT.Q_default.workers`],
    ["worker-other", "dead-letter calls of the default queue", "dlq.default.id.call"],
    ["provider", "publish a call", "q.default.functions.echo"],
    ["provider", "write functions", "$KV.functions.functions.echo"],
    ["provider", "write records", "$KV.calls.id"],
    ["provider", "read a record", `${api}.STREAM.MSG.GET.KV_calls`],
    ["provider", "take calls", `${api}.CONSUMER.MSG.NEXT.Q_default.workers`],
    ["provider", "report activity", "activity.provider"],
    ["worker-default", "report synchronous calls", "history.sync"],
    ["autoscaler", "report synchronous calls", "history.sync"],
    ["autoscaler", "report rollups", "history.rollup"],
    ...["sync", "rollup", "scaling"].flatMap((kind) => [
      ["provider", `report for the history (${kind})`, `history.${kind}`],
      ["doctor", `report for the history (${kind})`, `history.${kind}`],
    ]),
    ["history", "write namespaces", "$KV.namespaces.dev"],
    ["history", "read functions", `${api}.STREAM.MSG.GET.KV_functions`],
    ["autoscaler", "publish a call", "q.default.functions.echo"],
    ["autoscaler", "read a stored call", `${api}.STREAM.MSG.GET.Q_default`],
    ["autoscaler", "write records", "$KV.calls.id"],
    ["autoscaler", "write endpoints", "$KV.endpoints.functions.echo"],
    ["autoscaler", "report activity", "activity.autoscaler"],
    ["autoscaler", "declare a queue", "$KV.queues.default"],
    ["autoscaler", "take the doctor's lease", "$KV.queues.lease.process.doctor"],
    ...["worker-default", "provider", "history", "autoscaler"].flatMap((user) => [
      [user, "write a session", "$KV.sessions.key"],
      [user, "read a session", `${api}.STREAM.MSG.GET.KV_sessions`],
      [user, "read a session directly", `${api}.DIRECT.GET.KV_sessions.$KV.sessions.key`],
      [user, "watch sessions", `${api}.CONSUMER.CREATE.KV_sessions.other.$KV.sessions.>`],
    ]),
    ...["gateway", "provider", "history", "autoscaler", "doctor"].map((user) => [
      user,
      "keep a request",
      "$KV.requests.functions.echo.id",
    ]),
    ...["worker-default", "provider", "history", "autoscaler"].flatMap((user) => [
      [user, "read a kept request", `${api}.STREAM.MSG.GET.KV_requests`],
      [user, "read a kept request directly", `${api}.DIRECT.GET.KV_requests.$KV.requests.functions.echo.id`],
      [user, "watch kept requests", `${api}.CONSUMER.CREATE.KV_requests.other.$KV.requests.>`],
      [user, "remove a kept request", `${api}.STREAM.MSG.DELETE.KV_requests`],
    ]),
    ...["worker-default", "provider", "autoscaler"].map((user) => [
      user,
      "purge kept requests",
      `${api}.STREAM.PURGE.KV_requests`,
    ]),
    ["history", "read a dead letter", `${api}.STREAM.MSG.GET.DLQ`],
    ["history", "delete a dead letter", `${api}.STREAM.MSG.DELETE.DLQ`],
    ["history", "purge dead letters", `${api}.STREAM.PURGE.DLQ`],
    ["gateway", "watch kept requests", `${api}.CONSUMER.CREATE.KV_requests.other.$KV.requests.>`],
    ["gateway", "change the bucket of requests", `${api}.STREAM.UPDATE.KV_requests`],
    ["gateway", "delete the bucket of requests", `${api}.STREAM.DELETE.KV_requests`],
    ["gateway", "purge sessions", `${api}.STREAM.PURGE.KV_sessions`],
    ["gateway", "change the bucket of sessions", `${api}.STREAM.UPDATE.KV_sessions`],
    ["gateway", "delete the bucket of sessions", `${api}.STREAM.DELETE.KV_sessions`],
    ["doctor", "write a session", "$KV.sessions.key"],
    ["history", "publish a call", "q.default.functions.echo"],
    ["history", "publish a callback", "cb.default.functions.echo"],
    ["history", "write a dead letter", "dlq.default.id.call"],
    ["history", "write records", "$KV.calls.id"],
    ["history", "write results", "$KV.results.id.1"],
    ["history", "write functions", "$KV.functions.functions.echo"],
    ["history", "cancel calls", "ctl.cancel"],
    ["history", "say that a call ended", "ctl.ended"],
    ["history", "report activity", "activity.history"],
    ["history", "report to itself", "history.sync"],
    ["history", "declare a queue", "$KV.queues.default"],
    ["history", "take the doctor's lease", "$KV.queues.lease.process.doctor"],
    ["history", "read results", `${api}.STREAM.MSG.GET.KV_results`],
    ["history", "read a stored call", `${api}.STREAM.MSG.GET.Q_default`],
    ["history", "take calls", `${api}.CONSUMER.MSG.NEXT.Q_default.workers`],
    ["history", "make a consumer of calls", `${api}.CONSUMER.CREATE.Q_default.other`],
    ["history", "make a lasting consumer of records", `${api}.CONSUMER.DURABLE.CREATE.KV_calls.other`],
    ["history", "delete a consumer of calls", `${api}.CONSUMER.DELETE.Q_default.workers`],
    ["history", "delete a record", `${api}.STREAM.MSG.DELETE.KV_calls`],
    ["history", "purge records", `${api}.STREAM.PURGE.KV_calls`],
    ["history", "change the bucket of records", `${api}.STREAM.UPDATE.KV_calls`],
    ["history", "delete the bucket of records", `${api}.STREAM.DELETE.KV_calls`],
    ["doctor", "publish a call", "q.default.functions.echo"],
    ["doctor", "publish a callback", "cb.default.functions.echo"],
    ["doctor", "write functions", "$KV.functions.functions.echo"],
    ["doctor", "acknowledge calls", "$JS.ACK.Q_default.workers.1.1.1.1.0"],
    ["doctor", "reply for a worker", "_INBOX.wk-default.x"],
  ])("%s may not %s", async (user, _what, subject) => {
    const { url, password, inboxPrefix } = server.access(user);
    const connection = await connect({ servers: url, user, pass: password, inboxPrefix });
    try {
      expect(await refusal(connection, (nc) => nc.publish(subject, ""))).toContain("Permissions Violation for Publish");
    } finally {
      await connection.close();
    }
  });

  const everyone = ["gateway", "worker-default", "worker-other", "provider", "history", "autoscaler", "doctor"];
  test.each([
    ...everyone.flatMap((user) => [
      ...[
        "q.>",
        "cb.>",
        "dlq.>",
        "$KV.>",
        "$KV.sessions.*",
        "audit.*",
        "$JS.ACK.>",
        "$JS.API.>",
        "_INBOX.>",
        "_INBOX.*.*",
        ">",
        "*.>",
        "$SYS.>",
      ].map((subject) => [user, subject]),
      ...everyone
        .filter((other) => other !== user)
        .map((other) => [user, `${natsUsers(facts).find(({ name }) => name === other)?.inboxPrefix}.>`]),
    ]),
    ["worker-default", "ctl.ended"],
    ["worker-default", "activity.>"],
    ["gateway", "ctl.cancel"],
    ["provider", "ctl.>"],
    ["provider", "activity.>"],
    ["history", "ctl.>"],
    ["history", "activity.>"],
    ["history", "history.>"],
    ["autoscaler", "$JS.EVENT.ADVISORY.>"],
    ["gateway", "$JS.EVENT.ADVISORY.>"],
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

  test("are those of the table, and no pattern in them has a star that is not a whole token", () => {
    for (const { name, inboxPrefix, rights } of natsUsers(facts)) {
      expect(rights.subscribe[0], name).toBe(`${inboxPrefix}.>`);
      for (const subject of [...rights.publish, ...rights.subscribe]) {
        for (const token of subject.split(".")) {
          expect(token === "*" || token === ">" || !/[*>]/.test(token), `${name}: ${subject}`).toBe(true);
        }
      }
    }
    const inCluster = natsUsers({ ...facts, oneMachine: false });
    expect(inCluster.map(({ name }) => name)).not.toContain("provider");
    const subjects = inCluster
      .filter(({ name }) => name !== "doctor")
      .flatMap(({ rights }) => rights.publish)
      .filter((subject) => /functions|namespaces|endpoints/.test(subject));
    expect(subjects).toEqual([]);
  });

  test("nobody can connect without a password", async () => {
    await expect(connect({ servers: server.url, reconnect: false })).rejects.toThrow(/authorization/i);
    const wrong = connect({ servers: server.url, user: "gateway", pass: "wrong", reconnect: false });
    await expect(wrong).rejects.toThrow(/authorization/i);
  });

  test("let a worker rebuild its consumer", async () => {
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
