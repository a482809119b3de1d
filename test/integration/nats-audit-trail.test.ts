import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { NatsAuditTrail } from "../../runtime/adapters/nats/audit/nats-audit-trail.ts";
import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsQueueStore } from "../../runtime/adapters/nats/queues/nats-queue-store.ts";
import { auditStream, auditSubject } from "../../runtime/adapters/nats/stream-names.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import { auditRecord } from "../../runtime/core/access/audit/audit-record.ts";
import type { AuditQuery } from "../../runtime/core/ports/audit-trail.ts";
import { auditTrailContract, sampleRecord } from "../contract/audit-trail.contract.ts";
import { sampleQueue } from "../contract/samples.ts";
import { deleteStream } from "../support/delete-stream.ts";
import { eventually } from "../support/eventually.ts";
import { openNatsServer, type TestNatsServer } from "../support/nats-server.ts";

const mebibyte = 1_048_576;
const facts = {
  maxFileStore: 320 * mebibyte,
  payloadLimit: mebibyte,
  maxCallRecords: 1_000,
  replicas: 1,
  oneMachine: true,
};
/** 2 % of the store, a third of that for refusals; each takes 600 bytes and more. */
const tooManyRefusals = 4_000;
const everything: AuditQuery = {
  since: undefined,
  subject: undefined,
  action: undefined,
  allowed: undefined,
  follow: false,
};

let server: TestNatsServer;
let doctor: NatsLink;
let gateway: NatsLink;

const open = (user: string): Promise<NatsLink> =>
  NatsLink.open({ ...server.access(user), name: user, pingInterval: 1_000 });
const provision = (): Promise<void> => new NatsQueueStore(doctor, facts).provision([sampleQueue()]);
const read = async (trail: NatsAuditTrail, query: Partial<AuditQuery> = {}) =>
  Array.fromAsync(await trail.read({ ...everything, ...query }, new AbortController().signal));

/** Deletes both streams and creates them again. */
async function renew(): Promise<void> {
  for (const stream of Object.values(auditStream)) await deleteStream(doctor, server, stream);
  await provision();
}

beforeAll(async () => {
  server = await openNatsServer({ users: true, maxFileStore: 512 * mebibyte });
  doctor = await open(natsUser.doctor);
  await provision();
  gateway = await open(natsUser.gateway);
});

afterAll(async () => {
  await gateway?.close();
  await doctor?.close();
  await server?.close();
});

describe("NatsAuditTrail, as the gateway's user", () => {
  auditTrailContract(async () => {
    await renew();
    return { trail: new NatsAuditTrail(gateway, { lookEvery: 20 }), tooManyRefusals, close: async () => {} };
  });

  test("the longest record is stored", async () => {
    await renew();
    const long = "\u0001".repeat(100_000);
    const record = auditRecord(
      {
        at: Date.now(),
        caller: { via: "token", subject: long, issuer: long },
        action: long,
        resource: long,
        allowed: false,
        by: { role: long, policy: long, sid: long },
        reported: { role: long, policy: long, sid: long },
        status: 403,
        code: "credentials_required",
        address: long,
        callId: long,
        requestId: long,
      },
      sampleRecord().id,
    );
    const trail = new NatsAuditTrail(gateway);
    expect(await trail.append(record)).toBe(true);
    expect(await read(trail)).toEqual([record]);
  });

  test("a message that is no record is passed over", async () => {
    await renew();
    const trail = new NatsAuditTrail(gateway);
    const record = sampleRecord();
    await gateway.js.publish(auditSubject.change, "{");
    expect(await trail.append(record)).toBe(true);
    expect(await read(trail)).toEqual([record]);
  });

  test("without its streams nothing is stored, and the broker does not count as away for that", async () => {
    await renew();
    const trail = new NatsAuditTrail(gateway);
    for (const stream of Object.values(auditStream)) await deleteStream(doctor, server, stream);
    expect(await trail.append(sampleRecord())).toBe(false);
    expect(gateway.state.kind).toBeUndefined();
    await expect(trail.read(everything, new AbortController().signal)).rejects.toMatchObject({
      code: "queue_unavailable",
    });
    await provision();
    expect(await trail.append(sampleRecord())).toBe(true);
  });

  test("while the broker is away nothing is stored and reading is refused; who follows goes on when it is back", async () => {
    await renew();
    const trail = new NatsAuditTrail(gateway, { lookEvery: 20 });
    const [before, lost, after] = [sampleRecord(), sampleRecord(), sampleRecord()];
    expect(await trail.append(before)).toBe(true);
    const end = new AbortController();
    const found: string[] = [];
    const records = await trail.read({ ...everything, follow: true }, end.signal);
    const reading = (async () => {
      for await (const { id } of records) found.push(id);
    })();
    await eventually(() => found.length === 1, { what: "the first record" });
    await server.kill();
    await eventually(() => gateway.downFor() > 1_000, { what: "the connection to be gone" });
    expect(await trail.append(lost)).toBe(false);
    await expect(read(trail)).rejects.toMatchObject({ code: "queue_unavailable" });
    await server.restart();
    await eventually(() => trail.append(after), { what: "the broker to store again" });
    await eventually(() => found.length === 2, { what: "the record after it" });
    expect(found).toEqual([before.id, after.id]);
    end.abort();
    await reading;
  });

  test("records outlive a restart of the broker", async () => {
    await renew();
    const trail = new NatsAuditTrail(gateway);
    const record = sampleRecord();
    expect(await trail.append(record)).toBe(true);
    await server.restart();
    await eventually(async () => (await read(trail)).length === 1, { what: "the record" });
    expect(await read(trail)).toEqual([record]);
  });
});

describe("the streams of the audit trail", () => {
  test("have limits of their own, within 2 % of the store", async () => {
    const limits = await Promise.all(
      Object.values(auditStream).map(async (name) => (await doctor.jsm.streams.info(name)).config),
    );
    const total = limits.reduce((sum, { max_bytes: bytes }) => sum + bytes, 0);
    expect(total).toBeLessThanOrEqual((facts.maxFileStore * 2) / 100);
    for (const { discard, max_age: age, max_bytes: bytes } of limits) {
      expect({ discard, days: age / 86_400_000_000_000 }).toEqual({ discard: "old", days: 14 });
      expect(bytes).toBeGreaterThan(2 * mebibyte);
    }
  });

  const api = "$JS.API";
  test.each([
    ["gateway", "delete a record", `${api}.STREAM.MSG.DELETE.audit_change`],
    ["gateway", "purge records", `${api}.STREAM.PURGE.audit_change`],
    ["gateway", "change a stream of it", `${api}.STREAM.UPDATE.audit_change`],
    ["gateway", "delete a stream of it", `${api}.STREAM.DELETE.audit_refusal`],
    ["gateway", "make a consumer of it", `${api}.CONSUMER.CREATE.audit_change.other`],
    ["gateway", "publish elsewhere below it", "audit.other"],
    ["gateway", "make an older consumer of it", `${api}.CONSUMER.DURABLE.CREATE.audit_refusal.other`],
    ...["worker-default", "provider", "history", "autoscaler"].flatMap((user) =>
      ["change", "refusal"].flatMap((kind) => [
        [user, `write a ${kind}`, `audit.${kind}`],
        [user, `read a ${kind}`, `${api}.STREAM.MSG.GET.audit_${kind}`],
        [user, `read every ${kind}`, `${api}.DIRECT.GET.audit_${kind}`],
        [user, `make a consumer of every ${kind}`, `${api}.CONSUMER.CREATE.audit_${kind}.other`],
      ]),
    ),
    ["doctor", "write a change", "audit.change"],
    ["doctor", "write a refusal", "audit.refusal"],
  ])("%s may not %s", async (user, _what, subject) => {
    const { url, password, inboxPrefix } = server.access(user);
    const connection = await connect({ servers: url, user, pass: password, inboxPrefix });
    try {
      expect(await violation(connection, subject)).toContain("Permissions Violation for Publish");
    } finally {
      await connection.close();
    }
  });

  test("not even the queue-doctor removes a record from them", async () => {
    await renew();
    expect(await new NatsAuditTrail(gateway).append(sampleRecord())).toBe(true);
    await expect(doctor.jsm.streams.deleteMessage(auditStream.change, 1)).rejects.toThrow(/not permitted/);
    await expect(doctor.jsm.streams.purge(auditStream.change)).rejects.toThrow(/not permitted/);
  });
});

/** What the server says to a publish of this subject; empty if nothing. */
async function violation(connection: NatsConnection, subject: string): Promise<string> {
  const statuses = connection.status();
  connection.publish(subject, "");
  await connection.flush();
  for await (const status of statuses) if (status.type === "error") return status.error.message;
  return "";
}
