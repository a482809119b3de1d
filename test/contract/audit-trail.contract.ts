import { randomUUID } from "node:crypto";

import { afterEach, expect, test } from "vitest";

import type { AuditRecord } from "../../runtime/api/schemas/iam/audit.ts";
import type { AuditQuery, AuditTrail } from "../../runtime/core/ports/audit-trail.ts";
import { eventually } from "../support/eventually.ts";

export interface OpenAuditTrail {
  readonly trail: AuditTrail;
  /** Number of `sampleRecord` refusals, with a resource of 400 characters, that exceeds what is kept of them. */
  readonly tooManyRefusals: number;
  close(): Promise<void>;
}

const everything: AuditQuery = {
  since: undefined,
  subject: undefined,
  action: undefined,
  allowed: undefined,
  follow: false,
};
let nextTime = Date.now();

/** The record of a change, each a millisecond after the one before. */
export function sampleRecord(over: Partial<AuditRecord> = {}): AuditRecord {
  return {
    id: randomUUID(),
    time: new Date(nextTime++).toISOString(),
    subject: "fed:alice",
    issuer: "https://issuer.example",
    via: "token",
    action: "Function:Delete",
    resource: "dev:naïve €",
    allowed: true,
    by: { role: "deployers", policy: "deploy", sid: "1" },
    status: 202,
    address: "10.0.0.7",
    requestId: "req-1",
    ...over,
  };
}

const refusal = (over: Partial<AuditRecord> = {}): AuditRecord =>
  sampleRecord({ allowed: false, status: 403, code: "forbidden", ...over });

/** What every `AuditTrail` must do. */
export function auditTrailContract(open: () => Promise<OpenAuditTrail>): void {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });
  const opened = async (): Promise<OpenAuditTrail> => {
    const found = await open();
    ends.push(() => found.close());
    return found;
  };
  const stored = async (trail: AuditTrail, ...records: readonly AuditRecord[]): Promise<void> => {
    for (const record of records) expect(await trail.append(record)).toBe(true);
  };
  const read = async (trail: AuditTrail, query: Partial<AuditQuery> = {}): Promise<AuditRecord[]> =>
    Array.fromAsync(await trail.read({ ...everything, ...query }, new AbortController().signal));
  /** Follows until the test ends; the records as they come. */
  const follow = async (trail: AuditTrail, query: Partial<AuditQuery> = {}): Promise<AuditRecord[]> => {
    const end = new AbortController();
    const found: AuditRecord[] = [];
    const records = await trail.read({ ...everything, ...query, follow: true }, end.signal);
    const reading = (async () => {
      for await (const record of records) found.push(record);
    })();
    ends.push(() => (end.abort(), reading));
    return found;
  };

  test("an empty trail has no records", async () => {
    const { trail } = await opened();
    expect(await read(trail)).toEqual([]);
  });

  test("records are read whole, in the order in which they were stored", async () => {
    const { trail } = await opened();
    const records = [sampleRecord(), refusal({ count: 7 }), sampleRecord({ callId: randomUUID() }), refusal()];
    await stored(trail, ...records);
    expect(await read(trail)).toEqual(records);
  });

  test("a record that is sent twice is stored once", async () => {
    const { trail } = await opened();
    const record = sampleRecord();
    await stored(trail, record, record);
    expect(await read(trail)).toEqual([record]);
  });

  test("nobody has to wait for one record to append another", async () => {
    const { trail } = await opened();
    const records = Array.from({ length: 1_000 }, () => sampleRecord());
    expect(await Promise.all(records.map((record) => trail.append(record)))).not.toContain(false);
    expect((await read(trail)).map(({ id }) => id).toSorted()).toEqual(records.map(({ id }) => id).toSorted());
  });

  test.each<[what: string, query: Partial<AuditQuery>, found: readonly number[]]>([
    ["a subject", { subject: "fed:bob" }, [1]],
    ["a pattern of subjects", { subject: "fed:*" }, [0, 1, 2]],
    ["an action", { action: "Function:Delete" }, [0, 2, 3]],
    ["a kind of actions", { action: "Secret:*" }, [1]],
    ["changes", { allowed: true }, [0, 1]],
    ["refusals", { allowed: false }, [2, 3]],
    ["both", { allowed: false, subject: "fed:alice" }, [2]],
    ["a time", { since: 2 }, [2, 3]],
    ["a time to come", { since: 1_000_000 }, []],
  ])("a query may name %s", async (_what, query, found) => {
    const { trail } = await opened();
    const records = [
      sampleRecord(),
      sampleRecord({ subject: "fed:bob", action: "Secret:Create" }),
      refusal(),
      { ...refusal({ address: "10.0.0.8" }), subject: undefined, via: undefined },
    ].map((record) => JSON.parse(JSON.stringify(record)) as AuditRecord);
    await stored(trail, ...records);
    const [, , third] = records;
    const { since } = query;
    const times = since === undefined ? {} : { since: Date.parse(third?.time ?? "") + since - 2 };
    expect(await read(trail, { ...query, ...times })).toEqual(found.map((index) => records[index]));
  });

  test("follow goes on with new records", async () => {
    const { trail } = await opened();
    const [first, second, third] = [sampleRecord(), sampleRecord(), refusal()];
    await stored(trail, first);
    const found = await follow(trail);
    await eventually(() => found.length === 1, { what: "the record that was there" });
    await stored(trail, second, third);
    await eventually(() => found.length === 3, { what: "the new records" });
    expect(found).toEqual([first, second, third]);
  });

  test("follow from now on shows nothing that was there", async () => {
    const { trail } = await opened();
    await stored(trail, sampleRecord());
    const late = sampleRecord();
    const found = await follow(trail, { since: Date.parse(late.time), allowed: true });
    await stored(trail, refusal(), late);
    await eventually(() => found.length > 0, { what: "the new record" });
    expect(found).toEqual([late]);
  });

  test("a reader gets each record once while others are stored", async () => {
    const { trail } = await opened();
    const records = Array.from({ length: 600 }, (_, index) => (index % 3 === 0 ? refusal() : sampleRecord()));
    await stored(trail, ...records.slice(0, 100));
    const found = await follow(trail);
    await Promise.all(records.slice(100).map((record) => trail.append(record)));
    await eventually(() => found.length >= records.length, { what: "all records" });
    expect(new Set(found.map(({ id }) => id)).size).toBe(records.length);
    expect(found).toHaveLength(records.length);
  });

  /** Appends so many refusals that the first of them are pushed out; the last one of them. */
  const flood = async ({ trail, tooManyRefusals }: OpenAuditTrail): Promise<AuditRecord> => {
    const last = refusal();
    for (let sent = 0; sent < tooManyRefusals; sent += 200) {
      const some = Array.from({ length: 200 }, () => refusal({ resource: "x".repeat(400) }));
      expect(await Promise.all(some.map((record) => trail.append(record)))).not.toContain(false);
    }
    await stored(trail, last);
    return last;
  };

  test("no number of refusals pushes out a change", async () => {
    const found = await opened();
    const [change, oldest] = [sampleRecord(), refusal()];
    await stored(found.trail, change, oldest);
    const last = await flood(found);
    expect(await read(found.trail, { allowed: true })).toEqual([change]);
    const left = await read(found.trail, { allowed: false });
    expect(left.at(-1)).toEqual(last);
    expect(left).not.toContainEqual(oldest);
  });

  test("a reader whose place was pushed out goes on with what is there", async () => {
    const found = await opened();
    await stored(found.trail, refusal());
    const records = await found.trail.read({ ...everything, follow: true }, new AbortController().signal);
    const reader = records[Symbol.asyncIterator]();
    const seen = new Set([(await reader.next()).value?.id]);
    const last = await flood(found);
    for (let id: string | undefined; id !== last.id;) {
      id = (await reader.next()).value?.id;
      expect(seen).not.toContain(id);
      seen.add(id);
    }
    await reader.return?.();
  });
}
