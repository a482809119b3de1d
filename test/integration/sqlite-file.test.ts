import { open, readdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, test } from "vitest";

import { SqliteCallHistoryWriter } from "../../runtime/adapters/sqlite/calls/sqlite-call-history-writer.ts";
import { SqliteCallHistory } from "../../runtime/adapters/sqlite/calls/sqlite-call-history.ts";
import { historyChange, historyId } from "../support/history-calls.ts";
import { openSmallDisk } from "../support/small-disk.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** A closed file with so many calls. */
async function writtenFile(directory: string, calls: number): Promise<string> {
  const file = join(directory, "calls.db");
  const writer = await SqliteCallHistoryWriter.open({ file });
  for (let from = 0; from < calls; from += 1_000)
    await writer.apply({
      changes: Array.from({ length: Math.min(1_000, calls - from) }, (_, index) => historyChange(from + index)),
      rollups: [],
    });
  await writer.close();
  return file;
}

async function overwrite(file: string, from: number, length: number): Promise<void> {
  const handle = await open(file, "r+");
  await handle.write(Buffer.alloc(length, 0xa5), 0, length, from);
  await handle.close();
}

describe("the file", () => {
  test("is of its owner alone, with its log, and keeps what was written", async () => {
    await using directory = await tempDirectory("history");
    const folder = join(directory.path, "history");
    const file = await writtenFile(folder, 3);
    const writer = await SqliteCallHistoryWriter.open({ file });
    await writer.apply({ changes: [historyChange(4)], rollups: [] });
    expect(writer.movedAside).toBeUndefined();
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const names = await readdir(folder);
    expect(names.toSorted()).toEqual(["calls.db", "calls.db-shm", "calls.db-wal"]);
    for (const name of names) expect([name, (await stat(join(folder, name))).mode & 0o777]).toEqual([name, 0o600]);
    expect(await writer.size()).toMatchObject({ calls: 4 });
    await writer.close();
    expect(await readdir(folder)).toEqual(["calls.db"]);
  });

  test("of a later release is not opened, and not touched", async () => {
    await using directory = await tempDirectory("history");
    const file = await writtenFile(directory.path, 1);
    const database = new DatabaseSync(file);
    database.exec("PRAGMA user_version = 7");
    database.close();
    await expect(SqliteCallHistoryWriter.open({ file })).rejects.toThrow(
      "Cannot open history: it is of schema 7, this release knows 1",
    );
    expect(await readdir(directory.path)).toEqual(["calls.db"]);
  });

  test("that another connection has locked stores all of a batch or nothing", async () => {
    await using directory = await tempDirectory("history");
    const file = await writtenFile(directory.path, 1);
    const writer = await SqliteCallHistoryWriter.open({ file });
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    const position = { created: "now", sequence: 5, at: 1, base: 0 };
    const batch = { changes: [historyChange(2, { namespace: "shop" })], rollups: [], position };
    await expect(writer.apply(batch)).rejects.toMatchObject({
      code: "history_unavailable",
      message: "Cannot write history: database is locked",
    });
    expect(await writer.position()).toBeUndefined();
    other.exec("ROLLBACK");
    other.close();
    await writer.apply(batch);
    expect(await writer.position()).toEqual(position);
    expect(await writer.size()).toMatchObject({ calls: 2 });
    await writer.close();
  });

  test("on a full disk stores all of a batch or nothing, and goes on when there is room", async (context) => {
    const disk = await openSmallDisk(16 * 1_048_576);
    if (disk === undefined) {
      context.skip("this user may not mount a file system");
      return;
    }
    await using mounted = disk;
    const writer = await SqliteCallHistoryWriter.open({ file: join(mounted.path, "calls.db") });
    await writer.apply({ changes: [historyChange(1)], rollups: [] });
    const changes = Array.from({ length: 1_000 }, (_, index) => historyChange(10 + index));
    const position = { created: "now", sequence: 5, at: 1, base: 0 };
    mounted.fill(100_000);
    await expect(writer.apply({ changes, rollups: [], position })).rejects.toMatchObject({
      code: "history_unavailable",
    });
    expect(await writer.position()).toBeUndefined();
    expect(await writer.size()).toMatchObject({ calls: 1 });
    mounted.empty();
    await writer.apply({ changes, rollups: [], position });
    expect(await writer.size()).toMatchObject({ calls: 1_001 });
    await writer.close();
  });
});

describe("a damaged file", () => {
  test.each([
    [
      "is no database",
      async (file: string) => writeFile(file, "not a database, but long enough to be read as one".repeat(90)),
    ],
    ["lost its head", async (file: string) => overwrite(file, 0, 100)],
    ["lost its schema", async (file: string) => overwrite(file, 100, 3_900)],
    ["was cut short", async (file: string) => truncate(file, 40_960)],
  ])("that %s is moved aside when it is opened", async (_, damage) => {
    await using directory = await tempDirectory("history");
    const file = await writtenFile(directory.path, 500);
    await damage(file);
    const damaged = await readFile(file);
    const writer = await SqliteCallHistoryWriter.open({ file });
    expect(writer.movedAside).toMatch(`Moved damaged file "${file}" to "${file}.damaged": `);
    expect(await readFile(`${file}.damaged`)).toEqual(damaged);
    expect(await writer.position()).toBeUndefined();
    await writer.apply({ changes: [historyChange(1)], rollups: [] });
    expect(await writer.size()).toMatchObject({ calls: 1 });
    await writer.close();
    const again = await SqliteCallHistoryWriter.open({ file });
    expect(again.movedAside).toBeUndefined();
    expect(await again.size()).toMatchObject({ calls: 1 });
    await again.close();
  });

  /** Damages what only some statements meet: all pages in the middle. */
  async function damagedInside(directory: string): Promise<string> {
    const file = await writtenFile(directory, 3_000);
    const { size } = await stat(file);
    const pages = Math.floor(size / 4_096);
    for (let page = Math.floor(pages * 0.3); page < pages * 0.7; page += 1) await overwrite(file, page * 4_096, 4_096);
    return file;
  }

  test("whose writer meets the damage later is marked, and moved aside when it is opened next", async () => {
    await using directory = await tempDirectory("history");
    const file = await damagedInside(directory.path);
    const said: string[] = [];
    const writer = await SqliteCallHistoryWriter.open({ file, onDamaged: (sentence) => said.push(sentence) });
    expect(writer.movedAside).toBeUndefined();
    const changes = Array.from({ length: 3_000 }, (_, index) => historyChange(index, { retries: 1 }, 100_000 + index));
    await expect(writer.apply({ changes, rollups: [] })).rejects.toMatchObject({ code: "history_unavailable" });
    expect(said).toEqual([`Cannot use file "${file}": database disk image is malformed`]);
    await writer.close();
    const next = await SqliteCallHistoryWriter.open({ file });
    expect(next.movedAside).toContain("database disk image is malformed");
    expect(await readdir(directory.path)).toContain("calls.db.damaged");
    expect(await next.size()).toMatchObject({ calls: 0 });
    await next.close();
  });

  test("whose reader meets the damage is marked as well", async () => {
    await using directory = await tempDirectory("history");
    const file = await writtenFile(directory.path, 3_000);
    const writer = await SqliteCallHistoryWriter.open({ file });
    const said: string[] = [];
    const reads = new SqliteCallHistory({ file, readLimit: 60_000, onDamaged: (sentence) => said.push(sentence) });
    const { size } = await stat(file);
    for (let page = 40; page < Math.floor(size / 4_096); page += 1) await overwrite(file, page * 4_096, 4_096);
    await expect(
      (async () => {
        for (let number = 0; number < 3_000; number += 50) await reads.get(historyId(number));
      })(),
    ).rejects.toMatchObject({ code: "history_unavailable" });
    expect(said).toHaveLength(1);
    await reads.close();
    await writer.close();
    const next = await SqliteCallHistoryWriter.open({ file });
    expect(next.movedAside).toContain("malformed");
    await next.close();
  });
});
