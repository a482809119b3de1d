import { randomUUID } from "node:crypto";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import type { RecordLifetime } from "../../runtime/core/calls/call-ttl.ts";
import type { CallLedger, StoredResult } from "../../runtime/core/ports/call-ledger.ts";
import { eventually } from "../support/eventually.ts";
import { plain, sampleEntry, soon } from "./samples.ts";

export interface OpenCallLedger {
  readonly ledger: CallLedger;
  /** Most records that it keeps. */
  readonly maxRecords: number;
  /** Bytes of a result: it has room for one such result, but not for two. */
  readonly halfFull: number;
  close(): Promise<void>;
}

const hour = 3_600_000;
const result: StoredResult = {
  status: 207,
  headers: ["Content-Type", "image/png", "X-Word", "na\u00efve"],
  body: Buffer.from([0, 255, 13, 10]),
  duration: 12.75,
};

/** What every `CallLedger` must do. */
export function callLedgerContract(open: (lifetime: RecordLifetime) => Promise<OpenCallLedger>): void {
  let opened: OpenCallLedger;
  let ledger: CallLedger;
  let id: string;
  /** Lifetime of records written from now on, milliseconds. */
  let lifetime: number;

  beforeEach(async () => {
    lifetime = hour;
    opened = await open(() => lifetime);
    ({ ledger } = opened);
    id = randomUUID();
  });
  afterEach(() => opened.close());

  const create = async (key = id, entry = sampleEntry()): Promise<number> => {
    const outcome = await ledger.create(key, entry, soon());
    return outcome.kind === "created" ? outcome.revision : expect.fail(`it was ${outcome.kind}`);
  };

  describe("records", () => {
    test("create keeps a record unchanged", async () => {
      const entry = sampleEntry({
        attempts: [{ number: 1, startedAt: 5, error: "na\u00efve \u20ac" }],
        parent: randomUUID(),
      });
      const before = Date.now();
      const revision = await create(id, entry);
      const found = await ledger.read(id);
      expect(found).toMatchObject({ entry: { ...entry, expires: expect.any(Number) }, revision });
      // The ledger sets the expiry, whatever the entry said.
      expect(Math.abs((found?.entry.expires ?? 0) - before - hour)).toBeLessThan(60_000);
      expect(found?.writtenAt).toBeGreaterThan(before - 1_000);
      expect(found?.writtenAt).toBeLessThan(Date.now() + 1_000);
      expect(await ledger.read(randomUUID())).toBeUndefined();
    });

    test("create finds an existing record and leaves it alone", async () => {
      const revision = await create();
      const second = await ledger.create(id, sampleEntry({ digest: "other" }), soon());
      expect(second).toMatchObject({ kind: "exists", found: { revision, entry: { digest: "digest" } } });
    });

    test("of many concurrent creates one wins, and the others see what it wrote", async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, n) => ledger.create(id, sampleEntry({ digest: `${n}` }), soon())),
      );
      const winners = outcomes.filter(({ kind }) => kind === "created");
      const digests = outcomes.map((outcome) => (outcome.kind === "exists" ? outcome.found.entry.digest : undefined));
      expect(winners.length).toBe(1);
      expect(new Set(digests.filter((digest) => digest !== undefined)).size).toBe(1);
      expect(digests.filter((digest) => digest !== undefined).length).toBe(7);
    });

    test("update writes over the revision that was read, and over no other", async () => {
      const first = await create();
      const second = await ledger.update(id, sampleEntry({ state: "running" }), first);
      if (second.kind !== "written") expect.fail("it was not written");
      expect(second.revision).not.toBe(first);
      expect(await ledger.update(id, sampleEntry({ state: "done" }), first)).toEqual({ kind: "conflict" });
      expect(await ledger.read(id)).toMatchObject({ revision: second.revision, entry: { state: "running" } });
      expect(await ledger.update(randomUUID(), sampleEntry(), first)).toEqual({ kind: "conflict" });
    });

    test("of many concurrent updates one wins", async () => {
      const revision = await create();
      const written = await Promise.all(
        Array.from({ length: 8 }, (_, n) => ledger.update(id, sampleEntry({ digest: `${n}` }), revision)),
      );
      const winner = written.findIndex(({ kind }) => kind === "written");
      expect(written.map(({ kind }) => kind).toSorted()).toEqual([...Array(7).fill("conflict"), "written"]);
      expect(await ledger.read(id)).toMatchObject({ entry: { digest: `${winner}` } });
    });

    test("an expired record is gone, and can be created again", async () => {
      lifetime = 1_000;
      await create();
      await eventually(async () => (await ledger.read(id)) === undefined, {
        what: "the record to expire",
      });
      await create(id, sampleEntry({ digest: "new" }));
      expect(await ledger.read(id)).toMatchObject({ entry: { digest: "new" } });
    });

    test("every write sets a new time to live", async () => {
      const marker = randomUUID();
      const long = await create(marker);
      lifetime = 1_000;
      const short = await create();
      await ledger.update(marker, sampleEntry(), long);
      lifetime = hour;
      expect(await ledger.update(id, sampleEntry({ state: "running" }), short)).toMatchObject({ kind: "written" });
      await eventually(async () => (await ledger.read(marker)) === undefined, {
        what: "the record to expire",
      });
      expect(await ledger.read(id)).toMatchObject({ entry: { state: "running" } });
    });

    test("withdraw removes a record that was not changed since, and the id is free again", async () => {
      const revision = await create();
      await ledger.withdraw(id, revision);
      expect(await ledger.read(id)).toBeUndefined();
      await create(id, sampleEntry({ digest: "again" }));
      expect(await ledger.read(id)).toMatchObject({ entry: { digest: "again" } });
    });

    test("withdraw leaves a record that was changed since", async () => {
      const revision = await create();
      const newer = await ledger.update(id, sampleEntry({ state: "running" }), revision);
      if (newer.kind !== "written") expect.fail("it was not written");
      await ledger.withdraw(id, revision);
      expect(await ledger.read(id)).toMatchObject({ revision: newer.revision, entry: { state: "running" } });
    });

    test("a full ledger refuses new records, still accepts changes, and says how full it is", async () => {
      expect(ledger.fill()).toBeLessThanOrEqual(1);
      let revision = 0;
      for (let n = 0; n < opened.maxRecords; n++) revision = await create(n === 0 ? id : randomUUID());
      expect(await ledger.create(randomUUID(), sampleEntry(), soon())).toMatchObject({
        kind: "refused",
        because: "records-full",
      });
      expect(await ledger.create(id, sampleEntry(), soon())).toMatchObject({ kind: "exists" });
      const found = await ledger.read(id);
      const change = await ledger.update(id, sampleEntry({ state: "running" }), found?.revision ?? revision);
      expect(change.kind).toBe("written");
      await eventually(() => ledger.fill() === 1, { what: "the fill to be known" });
    });

    test("create does nothing after its deadline", async () => {
      expect(await ledger.create(id, sampleEntry(), performance.now() - 1)).toMatchObject({
        kind: "refused",
        because: "unavailable",
      });
      expect(await ledger.read(id)).toBeUndefined();
    });
  });

  describe("results", () => {
    const found = async (run = 1): Promise<unknown> => {
      const read = await ledger.readResult(id, run);
      return read === undefined ? undefined : plain(read);
    };

    test("are kept unchanged, one per run", async () => {
      const empty: StoredResult = { status: 204, headers: [], body: Buffer.alloc(0), duration: 0 };
      expect(await ledger.putResult(id, 1, result, hour)).toBe(true);
      expect(await ledger.putResult(id, 2, empty, hour)).toBe(true);
      expect(await found(1)).toEqual(plain(result));
      expect(await found(2)).toEqual(plain(empty));
      expect(await found(3)).toBeUndefined();
    });

    test("are replaced by a later put, with its time to live", async () => {
      await ledger.putResult(id, 1, result, hour);
      await ledger.putResult(id, 1, { ...result, status: 201 }, 1_000);
      expect(await found()).toMatchObject({ status: 201 });
      await eventually(async () => (await found()) === undefined, { what: "the result to expire" });
    });

    test("can be removed, also when there is none", async () => {
      await ledger.putResult(id, 1, result, hour);
      await ledger.removeResult(id, 1);
      expect(await found()).toBeUndefined();
      await ledger.removeResult(id, 1);
      await ledger.putResult(id, 1, result, hour);
      expect(await found()).toEqual(plain(result));
    });

    test("are refused when there is no room", async () => {
      const large = { ...result, body: Buffer.alloc(opened.halfFull, 7) };
      expect(await ledger.putResult(id, 1, large, hour)).toBe(true);
      expect(await ledger.putResult(id, 2, large, hour)).toBe(false);
      expect(await found(2)).toBeUndefined();
      expect(await found(1)).toEqual(plain(large));
    });
  });
}
