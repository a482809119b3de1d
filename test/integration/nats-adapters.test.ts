import { randomUUID } from "node:crypto";

import { headers as newHeaders } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { formatCall, headerMap, messageHeader } from "../../runtime/adapters/nats/queues/call-message.ts";
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
import {
  callbackStream,
  deadLetterStream,
  queueStream,
  queueSubject,
  workersConsumer,
} from "../../runtime/adapters/nats/stream-names.ts";
import { callbackSource, callSource } from "../../runtime/adapters/nats/queues/worker-sources.ts";
import type { QueuedCall } from "../../runtime/core/calls/call.ts";
import { desireFunction } from "../../runtime/core/functions/desired-function.ts";
import { activityContract } from "../contract/activity.contract.ts";
import { callLedgerContract } from "../contract/call-ledger.contract.ts";
import { callQueueContract, idOf, TestTaker } from "../contract/call-queue.contract.ts";
import { callSignalsContract } from "../contract/call-signals.contract.ts";
import { callbackQueueContract } from "../contract/callback-queue.contract.ts";
import { deadLettersContract } from "../contract/dead-letters.contract.ts";
import { endpointsContract } from "../contract/endpoints.contract.ts";
import { functionStoreContract } from "../contract/function-store.contract.ts";
import { keptRequestsContract } from "../contract/kept-requests.contract.ts";
import { leasesContract } from "../contract/leases.contract.ts";
import { namespaceStoreContract } from "../contract/namespace-store.contract.ts";
import { queueCatalogContract } from "../contract/queue-catalog.contract.ts";
import { queueStatesContract } from "../contract/queue-states.contract.ts";
import { sampleCall, sampleEntry, sampleQueue, soon } from "../contract/samples.ts";
import { deleteStream } from "../support/delete-stream.ts";
import { eventually } from "../support/eventually.ts";
import { openNatsServer, type TestNatsServer } from "../support/nats-server.ts";

const mebibyte = 1_048_576;
const facts = {
  maxFileStore: 320 * mebibyte,
  payloadLimit: mebibyte,
  maxCallRecords: 20,
  replicas: 1,
  oneMachine: true,
};
const queueFacts = { ackWait: 1_000, maxLength: 6 };

let server: TestNatsServer;
let link: NatsLink;
let store: NatsQueueStore;

const connect = (name: string): Promise<NatsLink> =>
  NatsLink.open({
    url: server.url,
    name,
    user: undefined,
    password: undefined,
    inboxPrefix: `_INBOX.${name}`,
    pingInterval: 5_000,
  });

/** Deletes a stream and creates it again: each test begins with an empty one. */
async function renew(stream: string): Promise<void> {
  await deleteStream(link, server, stream);
  await store.provision([sampleQueue(queueFacts)]);
}

beforeAll(async () => {
  server = await openNatsServer({ maxFileStore: 512 * mebibyte });
  link = await connect("test");
  store = new NatsQueueStore(link, facts);
  await store.provision([sampleQueue(queueFacts)]);
});

afterAll(async () => {
  await link?.close();
  await server?.close();
});

describe("NatsCallQueue", () => {
  callQueueContract(async () => {
    await renew(queueStream("default"));
    const links: NatsLink[] = [];
    const taking = await Promise.all([connect("taker-0"), connect("taker-1")]);
    links.push(...taking);
    let uses = 0;
    return {
      calls: new NatsCallQueue(link),
      queue: "default",
      source: () => {
        const index = uses++ % taking.length;
        return callSource(taking[index] ?? link, "default", queueFacts.ackWait, `_INBOX.taker-${index}`);
      },
      ...queueFacts,
      tooLarge: mebibyte + 256 * 1_024 + 1,
      close: async () => {
        await Promise.all(links.map((each) => each.close()));
      },
    };
  });

  test("a message that is not a call is delivered with the reason", async () => {
    await renew(queueStream("default"));
    const subject = queueSubject("default", { namespace: "functions", name: "echo" });
    const headers = newHeaders();
    headers.set(messageHeader.version, "1");
    headers.set(messageHeader.call, "no id");
    await link.js.publish(subject, "?", { headers });
    await link.js.publish(subject, "no headers at all");
    const worker = new TestTaker(callSource(link, "default", queueFacts.ackWait, "_INBOX.test"), 2);
    expect((await worker.nth(0)).content).toEqual({ unreadable: "call id is not a UUID in lower case" });
    expect((await worker.nth(0)).raw.headers.get(messageHeader.call)).toBe("no id");
    expect((await worker.nth(1)).content).toEqual({ unreadable: "version is missing" });
    expect(Buffer.from((await worker.nth(1)).raw.body).toString()).toBe("no headers at all");
    await worker.end();
  });

  test("a missing consumer is rebuilt, and calls continue", async () => {
    await renew(queueStream("default"));
    const calls = new NatsCallQueue(link);
    const worker = new TestTaker(callSource(link, "default", queueFacts.ackWait, "_INBOX.test"), 1);
    const [first, second] = [sampleCall(), sampleCall()];
    await calls.put(first, soon());
    await worker.finish(await worker.nth(0));
    await link.jsm.consumers.delete(queueStream("default"), workersConsumer);
    await calls.put(second, soon());
    await worker.finish(await worker.nth(1));
    expect(worker.ids).toEqual([first.id, second.id]);
    await worker.end();
  });

  test("a missing stream is unavailable", async () => {
    const outcome = await new NatsCallQueue(link).put(sampleCall({ queue: "none" }), soon());
    expect(outcome).toMatchObject({ kind: "refused", because: "unavailable" });
  });
});

describe("NatsCallbackQueue", () => {
  callbackQueueContract(async () => {
    await renew(callbackStream);
    return {
      callbacks: new NatsCallbackQueue(link),
      source: callbackSource(link, "default", queueFacts.ackWait, "_INBOX.test"),
      close: async () => {},
    };
  });
});

describe("NatsCallLedger", () => {
  callLedgerContract(async (lifetime) => {
    await renew("KV_calls");
    await renew("KV_results");
    const { config } = await link.jsm.streams.info("KV_results");
    await link.jsm.streams.update("KV_results", { ...config, max_bytes: mebibyte });
    return {
      ledger: new NatsCallLedger(link, lifetime, { accepts: true }),
      maxRecords: facts.maxCallRecords,
      halfFull: 700_000,
      close: async () => {},
    };
  });

  test("a record that another client of the bucket deletes counts as absent", async () => {
    await renew("KV_calls");
    const ledger = new NatsCallLedger(link, () => 60_000, { accepts: true });
    const id = randomUUID();
    await ledger.create(id, sampleEntry(), soon());
    await link.js.publish(`$KV.calls.${id}`, "", { headers: markerOf("DEL") });
    expect(await ledger.read(id)).toBeUndefined();
    expect(await ledger.create(id, sampleEntry({ digest: "new" }), soon())).toMatchObject({ kind: "created" });
  });
});

function markerOf(operation: string) {
  const headers = newHeaders();
  headers.set("KV-Operation", operation);
  return headers;
}

describe("NatsCallSignals", () => {
  callSignalsContract(async () => {
    const other = await connect("other");
    return { here: new NatsCallSignals(link), there: new NatsCallSignals(other), close: () => other.close() };
  });
});

describe("NatsActivity", () => {
  activityContract(async () => {
    const other = await connect("other");
    return { here: new NatsActivity(link), there: new NatsActivity(other), close: () => other.close() };
  });
});

describe("NatsDeadLetters", () => {
  deadLettersContract(async () => {
    await renew(deadLetterStream);
    const rawOf = (call: QueuedCall) => {
      const headers = formatCall(call, call.id, queueStream(call.queue));
      return { headers: headerMap(headers.decoded()), body: call.body };
    };
    return { letters: new NatsDeadLetters(link), rawOf, close: async () => {} };
  });

  test("keeps headers and address of a message whose body is too large, for inspection and deletion", async () => {
    await renew(deadLetterStream);
    const letters = new NatsDeadLetters(link);
    const call = sampleCall({ body: Buffer.alloc(mebibyte + 256 * 1_024) });
    const headers = headerMap(formatCall(call, call.id, queueStream("default")).decoded());
    const which = { kind: "call", id: call.id, queue: "default", function: call.function, reason: "crash" } as const;
    const times = { attempts: 6, lastStatus: undefined, acceptedAt: 1, deadAt: 2, redrives: 0 };
    await letters.put({ ...which, ...times, headers, body: call.body });
    const [found] = await letters.find("default", call.id);
    expect(found).toMatchObject({ size: call.body.byteLength, content: { kind: "unreadable" } });
  });
});

describe("NatsKeptRequests", () => {
  keptRequestsContract(async () => {
    await renew("KV_requests");
    const { config } = await link.jsm.streams.info("KV_requests");
    await link.jsm.streams.update("KV_requests", { ...config, max_bytes: mebibyte });
    const requests = new NatsKeptRequests(link);
    return { keeper: requests, requests, large: 200_000, close: async () => {} };
  });

  test("a request that is too large is not kept, and neither is any while its bucket is missing", async () => {
    await renew("KV_requests");
    const requests = new NatsKeptRequests(link);
    const large = sampleCall({ body: Buffer.alloc(mebibyte + 256 * 1_024) });
    expect(await requests.put({ call: large, redacted: [] }, 60_000)).toBe(false);
    await link.jsm.streams.delete("KV_requests");
    const call = sampleCall();
    expect(await requests.put({ call, redacted: [] }, 60_000)).toBe(false);
    await expect(requests.find(call.function, call.id)).rejects.toMatchObject({ code: "queue_unavailable" });
    await requests.removeNamespace("functions");
    await renew("KV_requests");
  });

  test("its bucket has at most a tenth of the store, which the queues have less", async () => {
    await renew("KV_requests");
    const { config } = await link.jsm.streams.info("KV_requests");
    expect(config).toMatchObject({ max_bytes: facts.maxFileStore / 10, discard: "old", max_msgs_per_subject: 1 });
    const names = ["Q_default", "CB", "DLQ", "KV_results", "KV_requests"];
    const limits = await Promise.all(names.map(async (name) => (await link.jsm.streams.info(name)).config.max_bytes));
    // Records have a tenth, too, but no limit by bytes.
    const share = limits.reduce((sum, bytes) => sum + bytes, 0) + facts.maxFileStore / 10;
    expect(share).toBeLessThanOrEqual(0.8 * facts.maxFileStore);
    expect(share).toBeGreaterThan(0.79 * facts.maxFileStore);
  });
});

describe("NatsQueueStates", () => {
  queueStatesContract(async () => {
    await renew(queueStream("default"));
    const source = callSource(link, "default", queueFacts.ackWait, "_INBOX.test");
    return { states: new NatsQueueStates(link), calls: new NatsCallQueue(link), source, close: async () => {} };
  });
});

describe("NatsQueueCatalog", () => {
  queueCatalogContract(async () => {
    await renew("KV_queues");
    return { catalog: new NatsQueueCatalog(link), close: async () => {} };
  });
});

describe("NatsLeases", () => {
  leasesContract(async () => {
    await renew("KV_queues");
    const other = await connect("other");
    return { here: new NatsLeases(link), there: new NatsLeases(other), close: () => other.close() };
  });

  test("where nothing can be stored it throws: the lease is neither acquired nor lost", async () => {
    await renew("KV_queues");
    const leases = new NatsLeases(link);
    expect(await leases.acquire("process.doctor", "a", 60_000)).toBe(true);
    await link.jsm.streams.update("KV_queues", { max_msg_size: 1 });
    await expect(leases.acquire("process.doctor", "a", 60_000)).rejects.toMatchObject({ code: "queue_unavailable" });
    expect(await leases.acquire("process.doctor", "b", 60_000)).toBe(false);
    await renew("KV_queues");
  });
});

describe("NatsFunctionStore", () => {
  functionStoreContract(async () => {
    await renew("KV_functions");
    return { store: new NatsFunctionStore(link), close: async () => {} };
  });

  test("list() leaves no consumer at the broker, with functions or without", async () => {
    await renew("KV_functions");
    const functions = new NatsFunctionStore(link);
    const list = () => Promise.all(Array.from({ length: 20 }, () => functions.list("functions")));
    const none = await list();
    const ref = { namespace: "functions", name: "hello" };
    await functions.write(ref, () => desireFunction(undefined, "functions", { service: "hello", image: "none" }, ""));
    const one = await list();

    expect([none, one].map((found) => found.map(({ length }) => length))).toEqual([0, 1].map((n) => Array(20).fill(n)));
    expect((await link.jsm.streams.info("KV_functions")).state.consumer_count).toBe(0);
  });
});

describe("NatsNamespaceStore", () => {
  namespaceStoreContract(async () => {
    await renew("KV_namespaces");
    return { store: new NatsNamespaceStore(link), close: async () => {} };
  });
});

describe("NatsEndpoints", () => {
  endpointsContract(async () => {
    await renew("KV_endpoints");
    const endpoints = new NatsEndpoints(link);
    return { endpoints, publisher: endpoints, close: async () => {} };
  });
});

test("provisioning again changes nothing and keeps what the queue holds", async () => {
  await renew(queueStream("default"));
  const calls = new NatsCallQueue(link);
  const call = sampleCall();
  await calls.put(call, soon());
  const before = await link.jsm.streams.info(queueStream("default"));
  await store.provision([sampleQueue(queueFacts)]);
  const after = await link.jsm.streams.info(queueStream("default"));
  expect(after.config).toEqual(before.config);
  expect(after.created).toBe(before.created);
  const worker = new TestTaker(callSource(link, "default", queueFacts.ackWait, "_INBOX.test"), 1);
  expect(idOf(await worker.nth(0))).toBe(call.id);
  await worker.end();
});

describe("when the server is killed and comes back", () => {
  test("workers continue, records and calls are kept, and a call put meanwhile is soon refused or stored", async () => {
    await renew(queueStream("default"));
    const calls = new NatsCallQueue(link);
    const ledger = new NatsCallLedger(link, () => 60_000, { accepts: true });
    const id = randomUUID();
    await ledger.create(id, sampleEntry(), soon());
    const worker = new TestTaker(callSource(link, "default", queueFacts.ackWait, "_INBOX.test"), 1);
    const [before, after] = [sampleCall(), sampleCall()];
    await calls.put(before, soon());
    await worker.nth(0);
    await server.kill();
    await eventually(() => link.downFor() > 1_000, { what: "the connection to be lost" });
    const startedAt = performance.now();
    expect(await calls.put(sampleCall(), soon())).toMatchObject({ kind: "refused", because: "unavailable" });
    expect(await ledger.create(randomUUID(), sampleEntry(), soon())).toMatchObject({
      kind: "refused",
      because: "unavailable",
    });
    await expect(ledger.read(id)).rejects.toMatchObject({ code: "queue_unavailable" });
    expect(worker.taken[0]?.extend()).toBe(false);
    // Each would try for 3 s.
    expect(performance.now() - startedAt).toBeLessThan(2_500);
    await server.restart();
    await eventually(async () => (await calls.put(after, soon())).kind === "stored", {
      what: "the queue to be back",
    });
    expect(await ledger.read(id)).toBeDefined();
    const [delivery] = worker.taken;
    if (delivery !== undefined) worker.release(delivery);
    await eventually(
      async () => {
        const last = worker.taken.at(-1);
        if (last !== undefined && last !== delivery) await worker.finish(last);
        return worker.ids.slice(1).includes(before.id) && worker.ids.includes(after.id);
      },
      { what: "both calls" },
    );
    await worker.end();
  });
});
