import { randomUUID } from "node:crypto";
import { join } from "node:path";

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { historySubject, NatsHistoryReports } from "../../runtime/adapters/nats/history/nats-history-reports.ts";
import { NatsRecordChanges } from "../../runtime/adapters/nats/history/nats-record-changes.ts";
import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsQueueStore } from "../../runtime/adapters/nats/queues/nats-queue-store.ts";
import { NatsCallLedger } from "../../runtime/adapters/nats/records/nats-call-ledger.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import type { StreamPosition } from "../../runtime/core/ports/call-history.ts";
import type { HistoryReport } from "../../runtime/core/ports/history-reports.ts";
import type { RecordBatch } from "../../runtime/core/ports/record-changes.ts";
import { openBroker } from "../../scripts/backup/broker.ts";
import { makeBackup } from "../../scripts/backup/make-backup.ts";
import { restoreBackup } from "../../scripts/backup/restore-backup.ts";
import { sampleCall, sampleEntry, sampleQueue, soon } from "../contract/samples.ts";
import { deleteStream } from "../support/delete-stream.ts";
import { eventually } from "../support/eventually.ts";
import { openNatsServer, type TestNatsServer } from "../support/nats-server.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const facts = {
  maxFileStore: 1_073_741_824,
  payloadLimit: 1_048_576,
  maxCallRecords: 100_000,
  replicas: 1,
  oneMachine: true,
};
const stream = "KV_calls";
const minute = 60_000;

/** With the rights that each user has. */
let server: TestNatsServer;
let doctor: NatsLink;
let gateway: NatsLink;
let link: NatsLink;
let ledger: NatsCallLedger;
let ttl = minute;

const connect = (user: string): Promise<NatsLink> =>
  NatsLink.open({ name: user, pingInterval: 1_000, ...server.access(user) });

beforeAll(async () => {
  server = await openNatsServer({ users: true });
  [doctor, gateway, link] = (await Promise.all([natsUser.doctor, natsUser.gateway, natsUser.history].map(connect))) as [
    NatsLink,
    NatsLink,
    NatsLink,
  ];
  ledger = new NatsCallLedger(gateway, () => ttl, { accepts: true });
});
afterAll(async () => {
  await Promise.all([doctor, gateway, link].map((each) => each?.close()));
  await server?.close();
});

const provision = () => new NatsQueueStore(doctor, facts).provision([sampleQueue()], []);

beforeEach(async () => {
  await provision();
});

/** What is read from a position on, until it is ended. */
interface Follower {
  readonly batches: readonly RecordBatch[];
  /** Changes by call, the last one of each, as `state revision`. */
  readonly calls: ReadonlyMap<string, string>;
  readonly position: StreamPosition;
  end(): Promise<void>;
}

const followers: Follower[] = [];
afterEach(async () => {
  ttl = minute;
  await Promise.all(followers.splice(0).map((follower) => follower.end()));
});

function follow(after?: StreamPosition, expiry = 1_000): Follower {
  const { inboxPrefix } = server.access(natsUser.history);
  const records = new NatsRecordChanges(link, { inboxPrefix, monitorUrl: server.monitorUrl, expiry });
  const stop = new AbortController();
  const batches: RecordBatch[] = [];
  const calls = new Map<string, string>();
  const running = (async () => {
    for await (const batch of records.follow(after, stop.signal)) {
      batches.push(batch);
      for (const change of batch.changes) {
        if (change.kind === "entry") calls.set(change.id, `${change.entry.state} ${change.revision}`);
        if (change.kind === "withdrawn") calls.delete(change.id);
      }
    }
  })();
  const follower: Follower = {
    batches,
    calls,
    get position() {
      const last = batches.at(-1);
      if (last === undefined) throw new Error("nothing was read yet");
      return last.position;
    },
    end: async () => {
      stop.abort();
      await running;
    },
  };
  followers.push(follower);
  return follower;
}

/** A call that was accepted; resolves with its id and revision. */
async function accept(): Promise<{ readonly id: string; readonly revision: number }> {
  const id = randomUUID();
  const made = await ledger.create(id, sampleEntry({}, sampleCall({ id })), soon());
  // A write whose acknowledgement comes late is tried again, and finds its own record.
  if (made.kind === "exists") return { id, revision: made.found.revision };
  if (made.kind !== "created") throw new Error(`record: ${made.kind}`);
  return { id, revision: made.revision };
}

async function finish({ id, revision }: { readonly id: string; readonly revision: number }): Promise<number> {
  const done = await ledger.update(id, sampleEntry({ state: "done", status: 200 }, sampleCall({ id })), revision);
  if (done.kind !== "written") throw new Error(`record: ${done.kind}`);
  return done.revision;
}

const consumers = async (): Promise<string[]> => {
  const names: string[] = [];
  for await (const { name } of doctor.jsm.consumers.list(stream)) names.push(name);
  return names;
};

describe("NatsRecordChanges", () => {
  test("follows the records, each change once and in order, and leaves no consumer behind", async () => {
    const before = await accept();
    const follower = follow();
    await eventually(() => follower.calls.has(before.id), { what: "what was there" });
    const calls = await Promise.all(Array.from({ length: 50 }, accept));
    const revisions = await Promise.all(calls.map(finish));
    await eventually(() => calls.every(({ id }) => follower.calls.get(id)?.startsWith("done") === true), {
      what: "all ends",
    });
    expect(calls.map(({ id }) => follower.calls.get(id))).toEqual(revisions.map((revision) => `done ${revision}`));
    const sequences = follower.batches.map(({ position }) => position.sequence);
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    expect(follower.batches.filter(({ isFirst }) => isFirst)).toHaveLength(1);
    expect(follower.batches.every(({ unreadable }) => unreadable === 0)).toBe(true);
    await follower.end();
    expect(await consumers()).toEqual([]);
  });

  test("goes on after the position that it is given", async () => {
    const seen = await accept();
    const first = follow();
    await eventually(() => first.calls.has(seen.id), { what: "the first call" });
    await first.end();
    const next = await accept();
    const second = follow(first.position);
    await eventually(() => second.calls.has(next.id), { what: "the next call" });
    expect([...second.calls.keys()]).toEqual([next.id]);
    expect(second.batches.find(({ changes }) => changes.length > 0)).toMatchObject({ isLevel: true, removed: 0 });
  });

  test("tells what a call that is refused after its record was written left behind", async () => {
    const follower = follow();
    const refused = await accept();
    await eventually(() => follower.calls.has(refused.id), { what: "the call" });
    await ledger.withdraw(refused.id, refused.revision);
    await eventually(() => !follower.calls.has(refused.id), { what: "its removal" });
  });

  test("counts what no longer exists: replaced or expired before it was read", async () => {
    const first = follow();
    await eventually(() => first.batches.length > 0, { what: "the beginning" });
    await first.end();
    ttl = 1_000;
    const gone = await accept();
    ttl = minute;
    const kept = await accept();
    await finish(kept);
    await eventually(async () => (await ledger.read(gone.id)) === undefined, { what: "the record to expire" });
    const second = follow(first.position);
    await eventually(() => second.calls.has(kept.id), { what: "the call that is kept" });
    expect(second.batches.map(({ removed }) => removed)).toContain(2);
    expect(second.calls.has(gone.id)).toBe(false);
  });

  test("steps over what was written and is gone, when nothing else is left", async () => {
    const first = follow();
    await eventually(() => first.batches.length > 0, { what: "the beginning" });
    await first.end();
    ttl = 1_000;
    const gone = await accept();
    await eventually(async () => (await ledger.read(gone.id)) === undefined, { what: "the record to expire" });
    const second = follow(first.position);
    await eventually(() => second.batches.length > 0, { what: "a batch" });
    const [batch] = second.batches;
    expect(batch).toMatchObject({ changes: [], isLevel: true, isFirst: true, removed: 1 });
    expect(batch?.position.sequence).toBe(gone.revision);
    // The broker has run since before: it could have changed.
    expect(batch?.quietUntil ?? 0).toBeLessThan(batch?.readAt ?? 0);
  });

  test("says now and then that nothing changed", async () => {
    const follower = follow(undefined, 300);
    await eventually(() => follower.batches.length > 3, { what: "signs" });
    const [, second, third] = follower.batches.slice(-3);
    expect(second).toMatchObject({ changes: [], isLevel: true, removed: 0, isFirst: false });
    expect(third?.position.at ?? 0).toBeGreaterThan(second?.position.at ?? 0);
    expect(third?.position.at ?? 0).toBeLessThanOrEqual(third?.readAt ?? 0);
  });

  test("goes on with a new consumer when its own is gone", async () => {
    const follower = follow();
    // A consumer that has delivered nothing yet may be gone before it is first asked.
    const first = await accept();
    await eventually(() => follower.calls.has(first.id), { what: "the first call" });
    for (const name of await consumers()) await doctor.jsm.consumers.delete(stream, name);
    const call = await accept();
    await eventually(() => follower.calls.has(call.id), { what: "the call" });
    expect(follower.batches.filter(({ isFirst }) => isFirst).length).toBeGreaterThan(1);
  });

  test("goes on where it was when the broker was killed", async () => {
    const follower = follow();
    const first = await accept();
    await eventually(() => follower.calls.has(first.id), { what: "the first call" });
    const seen = follower.position.sequence;
    await server.kill();
    await server.restart();
    const next = await eventually(accept, { what: "the broker to accept" });
    await eventually(() => follower.calls.has(next.id), { what: "the next call" });
    const later = follower.batches.filter(({ position }) => position.sequence > seen);
    expect(later.flatMap(({ changes }) => changes)).toHaveLength(1);
    // It started anew: nothing changed before that.
    const again = follower.batches.findLast(({ isFirst }) => isFirst);
    expect(again?.quietUntil ?? 0).toBeGreaterThan(follower.batches[0]?.quietUntil ?? Number.POSITIVE_INFINITY);
  });

  test("reads a stream that was created anew from its beginning, with greater revisions", async () => {
    const follower = follow();
    const call = await accept();
    await eventually(() => follower.calls.has(call.id), { what: "the call" });
    const { created, sequence } = follower.position;
    await deleteStream(doctor, server, stream);
    await new NatsQueueStore(doctor, facts).provision([sampleQueue()], []);
    const next = await eventually(accept, { what: "the new stream to accept" });
    await eventually(() => follower.calls.has(next.id), { what: "the call of the new stream" });
    expect(follower.position.created).not.toBe(created);
    expect(follower.position.base).toBe(sequence);
    expect(follower.calls.get(next.id)).toBe(`queued ${sequence + next.revision}`);
  });

  test("reads records anew that were restored from a backup, with greater revisions", async () => {
    await using directory = await tempDirectory("history-backup");
    const follower = follow();
    const call = await accept();
    await eventually(() => follower.calls.has(call.id), { what: "the call" });
    await using broker = await openBroker(server.access(natsUser.doctor));
    const backup = join(directory.path, "records");
    await makeBackup(broker, { to: backup, only: [stream], say: () => {} });
    await finish(call);
    await eventually(() => follower.calls.get(call.id)?.startsWith("done"), { what: "its end" });
    await follower.end();
    await restoreBackup(broker, { from: backup, only: [stream], replace: true, say: () => {} });

    const again = follow(follower.position);
    await eventually(() => again.calls.has(call.id), { what: "the restored record" });
    const [state, revision] = again.calls.get(call.id)?.split(" ") ?? [];
    expect(state).toBe("queued");
    expect(Number(revision)).toBeGreaterThan(follower.position.sequence);
  });

  test("finds calls without a record", async () => {
    const { inboxPrefix } = server.access(natsUser.history);
    const records = new NatsRecordChanges(link, { inboxPrefix });
    const calls = await Promise.all(Array.from({ length: 25 }, accept));
    const gone = [randomUUID(), randomUUID()];
    const ids = [...calls.slice(0, 12).map(({ id }) => id), ...gone, ...calls.slice(12).map(({ id }) => id)];
    expect(await records.withoutRecord(ids)).toEqual(gone);
  });

  test("keeps up with records that are written without a pause, and loses none", async () => {
    const follower = follow();
    const calls: { readonly id: string; readonly revision: number }[] = [];
    for (let round = 0; round < 40; round += 1) calls.push(...(await Promise.all(Array.from({ length: 100 }, accept))));
    await eventually(() => calls.every(({ id }) => follower.calls.has(id)), { what: "all calls" });
    expect(follower.batches.every(({ changes }) => changes.length <= 1_000)).toBe(true);
    expect(follower.batches.filter(({ isFirst }) => isFirst)).toHaveLength(1);
  });
});

describe("NatsHistoryReports", () => {
  const ref = { namespace: "functions", name: "pay" };
  const call = { ...ref, id: randomUUID(), method: "GET", status: 500, startedAt: 1, duration: 2 };
  const point = { ...ref, source: "gateway-1", at: 10_000 };
  const scaling = { ...ref, at: 5, from: 0, to: 1, reason: "called", message: "" };
  const reports: HistoryReport[] = [
    { kind: "sync", calls: [call] },
    { kind: "rollup", points: [point] },
    { kind: "scaling", scaling },
  ];
  const heard: HistoryReport[] = [];
  /** Anybody may say anything there. */
  let open: TestNatsServer;
  let listening: NatsLink;
  let reporting: NatsLink;

  beforeAll(async () => {
    open = await openNatsServer();
    const connectAs = (name: string): Promise<NatsLink> =>
      NatsLink.open({
        url: open.url,
        name,
        user: undefined,
        password: undefined,
        inboxPrefix: `_INBOX.${name}`,
        pingInterval: 1_000,
      });
    listening = await connectAs("history");
    reporting = await connectAs("gateway");
    new NatsHistoryReports(listening).subscribe((report) => heard.push(report));
    await listening.nc.flush();
  });
  afterAll(async () => {
    await listening?.close();
    await reporting?.close();
    await open?.close();
  });
  beforeEach(() => {
    heard.length = 0;
  });

  test("carries what processes report", async () => {
    for (const report of reports) new NatsHistoryReports(reporting).publish(report);
    await eventually(() => heard.length === 3, { what: "the reports" });
    expect(heard).toEqual(reports);
  });

  test("leaves out what no row can be made of", async () => {
    for (const [subject, content] of [
      [historySubject.sync, [null, { ...call, id: undefined }, call]],
      [historySubject.rollup, [point, { ...point, at: "x" }]],
      [historySubject.scaling, { ...scaling, to: undefined }],
      [historySubject.scaling, "no object"],
      [historySubject.sync, { ...call }],
      [historySubject.scaling, scaling],
    ] as const)
      reporting.nc.publish(subject, JSON.stringify(content));
    await eventually(() => heard.length === 3, { what: "the reports that can be read" });
    expect(heard).toEqual(reports);
  });
});
