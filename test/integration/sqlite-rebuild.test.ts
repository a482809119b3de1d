import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { SqliteCallHistoryWriter } from "../../runtime/adapters/sqlite/calls/sqlite-call-history-writer.ts";
import { markDamaged } from "../../runtime/adapters/sqlite/database/sqlite-damage.ts";
import { openSqliteStores, type SqliteStores } from "../../runtime/adapters/sqlite/open-sqlite-stores.ts";
import type { HistoryRebuild } from "../../runtime/core/ports/history-rebuild.ts";
import { manyBatches } from "../support/history-batches.ts";
import {
  historyChange,
  historyId,
  historySyncCall,
  listPages,
  numbersOf,
  openEntry,
} from "../support/history-calls.ts";
import { historyTables } from "../support/history-tables.ts";
import { overwritePages } from "../support/overwrite-pages.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const position = { created: "2027-01-15T08:00:00Z", sequence: 17, at: 5, base: 4 };
const seed = Math.floor(Math.random() * 2 ** 31);

let directory: TempDirectory;
let opened: SqliteStores[];
const place = (name: string): string => join(directory.path, name);
const file = (): string => place("calls.db");

beforeEach(async () => {
  directory = await tempDirectory("rebuild");
  opened = [];
});
afterEach(async () => {
  for (const stores of opened) await stores.close();
  await directory.remove();
});

async function open(): Promise<SqliteStores> {
  const stores = await openSqliteStores(directory.path, { keptLogs: false, onDamaged: () => {} });
  opened.push(stores);
  return stores;
}

async function close(stores: SqliteStores): Promise<void> {
  opened.splice(opened.indexOf(stores), 1);
  await stores.close();
}

/** A closed file with all that a history has; resolves with its tables. */
async function writtenFile() {
  const stores = await open();
  for (const batch of manyBatches(seed)) await stores.writer.apply(batch);
  // So many that they are not copied at once.
  const more = Array.from({ length: 700 }, (_, index) => historyChange(20_000 + index));
  await stores.writer.apply({ changes: more, rollups: [], position });
  const { rows } = await listPages(stores.reads, {}, 500);
  const open1 = rows.filter(({ state }) => ["queued", "running", "waiting"].includes(state)).map(({ id }) => id);
  await stores.writer.markUnknown(open1.slice(0, 10));
  for (const { id } of rows.filter(({ state }) => state === "done").slice(0, 10)) await stores.writer.remove(id);
  await close(stores);
  return historyTables(file());
}

/** Asks for a new file, and opens it. */
async function reopened(): Promise<SqliteStores & { readonly rebuild: HistoryRebuild }> {
  const stores = await open();
  await stores.requestRebuild();
  await close(stores);
  const next = await open();
  if (next.rebuild === undefined) throw new Error("nothing is rebuilt");
  return { ...next, rebuild: next.rebuild };
}

async function fill(rebuild: HistoryRebuild): Promise<void> {
  await rebuild.seed();
  while (await rebuild.copySome());
  await rebuild.finish();
}

describe("a file that is filled anew", () => {
  test("has the same tables in the end, and answers as before until then", async () => {
    const before = await writtenFile();
    expect(Object.values(before).every((rows) => rows.length > 0)).toBe(true);
    const stores = await reopened();
    expect([stores.rebuild.reason, stores.rebuild.position]).toEqual(["it was asked for", position]);
    const listed = async () => (await listPages(stores.reads, {}, 100)).rows.map(({ id }) => id);
    const all = await listed();
    expect(all).toHaveLength(before["calls"]?.length ?? 0);
    expect(await stores.writer.size()).toMatchObject({ calls: 0 });

    await stores.rebuild.seed();
    expect(await stores.rebuild.copySome()).toBe(true);
    expect(await listed()).toEqual(all);
    while (await stores.rebuild.copySome());
    expect([stores.rebuild.isUnderWay, stores.rebuild.hasLosses]).toEqual([true, false]);
    await stores.rebuild.finish();
    expect(stores.rebuild.isUnderWay).toBe(false);
    expect(await listed()).toEqual(all);
    expect(historyTables(file()), `seed ${seed}`).toEqual(before);
    expect(await stores.writer.position()).toEqual(position);
    expect((await readdir(directory.path)).filter((name) => /former|rebuild/.test(name))).toEqual([]);
    await close(stores);
    expect((await open()).rebuild).toBeUndefined();
  });

  test("goes on after an interruption, and keeps what was written meanwhile", async () => {
    const before = await writtenFile();
    const first = await reopened();
    await first.rebuild.seed();
    await first.rebuild.copySome();
    await first.writer.apply({ changes: [historyChange(70_000)], rollups: [] });
    await close(first);
    // Another request changes nothing while it is filled.
    const between = await open();
    await between.requestRebuild();
    await close(between);

    const second = await open();
    expect(second.rebuild?.isUnderWay).toBe(true);
    if (second.rebuild !== undefined) await fill(second.rebuild);
    expect((await second.reads.get(historyId(70_000)))?.row.state).toBe("done");
    const { calls = [], ...others } = historyTables(file());
    const ids = new Set(before["calls"]?.map((row) => JSON.stringify((row as { readonly id: unknown }).id)));
    const of = (rows: readonly unknown[]) =>
      rows.filter((row) => ids.has(JSON.stringify((row as { readonly id: unknown }).id)));
    expect(of(calls), `seed ${seed}`).toEqual(before["calls"]);
    expect(calls).toHaveLength(ids.size + 1);
    expect(others["rollups"]).toEqual(before["rollups"]);
    expect(others["tombstones"]).toEqual(before["tombstones"]);
  });

  test("knows records better than the file before, which adds what they do not show", async () => {
    const attempts = [1, 2].map((number) => ({ number, startedAt: number * 1_000, endedAt: number * 1_000 + 5 }));
    const old = await open();
    await old.writer.apply({
      changes: [
        historyChange(1, { ...openEntry, state: "waiting", run: 1, attempts: attempts.slice(0, 1) }, 7),
        historyChange(2, openEntry, 8),
      ],
      rollups: [],
      position,
    });
    await old.writer.markUnknown([historyId(2)]);
    await close(old);
    const stores = await reopened();
    await stores.rebuild.seed();
    // Its later record shows the second run alone; a call that was lost has a record after all.
    await stores.writer.apply({
      changes: [
        historyChange(1, { run: 2, attempts: attempts.slice(1) }, 9),
        historyChange(2, { ...openEntry, state: "running", run: 1 }, 10),
      ],
      rollups: [],
    });
    while (await stores.rebuild.copySome());
    await stores.rebuild.finish();
    const [first, second] = await Promise.all([1, 2].map((number) => stores.reads.get(historyId(number))));
    expect(first?.row).toMatchObject({ state: "done", revision: 9 });
    expect(first?.details.entry?.attempts.map(({ number }) => number)).toEqual([1, 2]);
    expect(second?.row).toMatchObject({ state: "running", revision: 10 });
  });

  test("does not bring back what was removed before or meanwhile", async () => {
    const old = await open();
    const changes = Array.from({ length: 6 }, (_, number) => historyChange(number));
    await old.writer.apply({ changes, rollups: [], position });
    await old.writer.apply({ changes: [historyChange(7, { namespace: "shop", function: "pay" })], rollups: [] });
    await old.writer.remove(historyId(1));
    await close(old);
    const stores = await reopened();
    const listed = async () => numbersOf((await listPages(stores.reads)).rows);
    await stores.writer.remove(historyId(2));
    stores.rebuild.hide("shop");
    expect(await listed()).toEqual([5, 4, 3, 0]);
    expect(await stores.reads.get(historyId(2))).toBeUndefined();
    await stores.rebuild.seed();
    // The record of one that was removed long ago.
    await stores.writer.apply({ changes: [historyChange(1)], rollups: [] });
    while (await stores.rebuild.copySome());
    await stores.rebuild.finish();
    expect(await listed()).toEqual([5, 4, 3, 0]);
    expect((await stores.reads.functions()).map(({ namespace }) => namespace)).toEqual(["functions"]);
  });

  test("of an unknown stream counts records of today for more", async () => {
    const old = await open();
    await old.writer.apply({ changes: [historyChange(1, openEntry, 9_000), historyChange(2, {}, 9_001)], rollups: [] });
    await close(old);
    const stores = await reopened();
    expect(stores.rebuild.position).toBeUndefined();
    await fill(stores.rebuild);
    await stores.writer.apply({ changes: [historyChange(1, {}, 3)], rollups: [] });
    const states = await Promise.all(
      [1, 2].map(async (number) => (await stores.reads.get(historyId(number)))?.row.state),
    );
    expect(states).toEqual(["done", "done"]);
  });

  test("knows calls by other means only if nothing else knows them", async () => {
    const old = await open();
    await old.writer.apply({ changes: [historyChange(1)], rollups: [], position });
    await old.writer.remove(historyId(2));
    await close(old);
    const { rebuild, reads, writer } = await reopened();
    await rebuild.seed();
    while (await rebuild.copySome());
    const letters = [1, 2, 3].map((number) => historyChange(number, { state: "failed", reason: "exhausted" }, 0));
    expect(await rebuild.addUnknown(letters)).toBe(1);
    await rebuild.finish();
    const states = await Promise.all([1, 2, 3].map(async (number) => (await reads.get(historyId(number)))?.row.state));
    expect(states).toEqual(["done", undefined, "failed"]);
    expect(await writer.size()).toMatchObject({ calls: 2 });
  });
});

describe("a damaged file", () => {
  /** Many calls, rollups, and one that was removed. */
  async function written(calls: number): Promise<void> {
    const writer = await SqliteCallHistoryWriter.open({ file: file() });
    for (let from = 0; from < calls; from += 1_000)
      await writer.apply({
        changes: Array.from({ length: 1_000 }, (_, index) => historyChange(from + index)),
        rollups: [],
        position,
      });
    await writer.apply({ changes: [{ kind: "sync", call: historySyncCall(90_000) }], rollups: [] });
    await writer.remove(historyId(90_000));
    await writer.close();
  }

  test("is the source of a new one as far as it can be read", async () => {
    await written(6_000);
    await overwritePages(file(), 0.3, 0.4);
    markDamaged(file(), "database disk image is malformed");
    const stores = await open();
    const { rebuild, reads, writer } = stores;
    expect(rebuild?.reason).toBe("database disk image is malformed");
    if (rebuild === undefined) return;
    await fill(rebuild);
    expect(rebuild.hasLosses).toBe(true);
    const { calls } = await writer.size();
    expect(calls).toBeGreaterThan(3_000);
    expect(calls).toBeLessThan(6_000);
    const { rows } = await listPages(reads, {}, 500);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(calls);
    for (const number of numbersOf(rows).slice(0, 20))
      expect((await reads.get(historyId(number)))?.row).toMatchObject({ revision: 10 * number + 1, state: "done" });
    // A call that was deleted stays deleted, and what is damaged stays to be looked at.
    await writer.apply({ changes: [{ kind: "sync", call: historySyncCall(90_000) }], rollups: [] });
    expect(await reads.get(historyId(90_000))).toBeUndefined();
    const left = (await readdir(directory.path)).filter((name) => /damaged|former|rebuild/.test(name));
    expect(left).toEqual(["calls.db.damaged"]);
    await close(stores);
    expect((await open()).rebuild).toBeUndefined();
  });

  test("with all its rows gives all of them, and has no losses", async () => {
    await written(3_000);
    // An index that nobody else reads.
    const database = new DatabaseSync(file());
    const root = Number(
      database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'tombstone_withdrawn'").get()?.["rootpage"],
    );
    const pages = Number(database.prepare("PRAGMA page_count").get()?.["page_count"]);
    database.close();
    await overwritePages(file(), (root - 0.9) / pages, (root + 0.1) / pages);
    markDamaged(file(), "malformed");
    const { rebuild, writer } = await open();
    if (rebuild === undefined) throw new Error("nothing is rebuilt");
    await fill(rebuild);
    expect([rebuild.hasLosses, rebuild.position]).toEqual([false, position]);
    expect(await writer.size()).toMatchObject({ calls: 3_000 });
  });

  test("of which nothing can be read leaves a new one without calls", async () => {
    await written(1_000);
    await overwritePages(file(), 0, 1);
    const { rebuild, reads, writer } = await open();
    if (rebuild === undefined) throw new Error("nothing is rebuilt");
    expect(rebuild.reason).toContain("not a database");
    await writer.apply({ changes: [historyChange(5)], rollups: [] });
    expect(numbersOf((await listPages(reads)).rows)).toEqual([5]);
    await fill(rebuild);
    expect([rebuild.hasLosses, rebuild.position]).toEqual([true, undefined]);
    expect(await writer.size()).toMatchObject({ calls: 1 });
  });

  test("that was being filled is begun again from the one before it", async () => {
    await written(2_000);
    const first = await reopened();
    await first.rebuild.seed();
    await close(first);
    await overwritePages(file(), 0, 1);
    const { rebuild, writer } = await open();
    if (rebuild === undefined) throw new Error("nothing is rebuilt");
    expect(rebuild.reason).toBe("it was asked for");
    await fill(rebuild);
    expect(await writer.size()).toMatchObject({ calls: 2_000 });
    expect(rebuild.hasLosses).toBe(false);
  });
});
