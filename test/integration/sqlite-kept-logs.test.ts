import { stat } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, test } from "vitest";

import { SqlKeptLogs } from "../../runtime/adapters/sql/logs/sql-kept-logs.ts";
import { migrateSqlite } from "../../runtime/adapters/sqlite/database/migrate-sqlite.ts";
import { SqliteReader } from "../../runtime/adapters/sqlite/database/sqlite-reader.ts";
import { logsSchema } from "../../runtime/adapters/sqlite/logs/logs-schema.ts";
import { SqliteKeptLogsWriter } from "../../runtime/adapters/sqlite/logs/sqlite-kept-logs-writer.ts";
import { SqliteKeptLogs } from "../../runtime/adapters/sqlite/logs/sqlite-kept-logs.ts";
import { keptLogsContract } from "../contract/kept-logs.contract.ts";
import { eventually } from "../support/eventually.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** Reads in this process: a child for each test would take most of its time. */
async function open() {
  const directory = await tempDirectory("kept-logs");
  const file = join(directory.path, "logs.db");
  const writer = await SqliteKeptLogsWriter.open({ file });
  const database = new DatabaseSync(file, { readOnly: true });
  return {
    reads: new SqlKeptLogs(new SqliteReader(database)),
    writer,
    close: async () => {
      database.close();
      await writer.close();
      await directory.remove();
    },
  };
}

describe("SqlKeptLogs", () => keptLogsContract(open));

test("a file of the first schema is opened with its lines, whose output is not known", async () => {
  const directory = await tempDirectory("kept-logs");
  const file = join(directory.path, "logs.db");
  const earlier = new DatabaseSync(file);
  migrateSqlite(earlier, "kept logs", logsSchema.migrations.slice(0, 1));
  earlier.exec(`INSERT INTO function (namespace, name, lines, bytes) VALUES ('shop', 'pay', 1, 94);
    INSERT INTO replica (fn, name, at, nanos, number) VALUES (1, 'a', 1000, 0, 0);
    INSERT INTO line (fn, replica, at, nanos, size, text) VALUES (1, 1, 1000, 0, 94, 'paid')`);
  earlier.close();
  const writer = await SqliteKeptLogsWriter.open({ file });
  const database = new DatabaseSync(file, { readOnly: true });
  const pay = { namespace: "shop", name: "pay" };
  try {
    const added = { ...pay, instance: "a", timestamp: "1970-01-01T00:00:02Z", text: "refused\n", number: 0 };
    await writer.append([{ ...added, stream: "stderr" }]);
    const { lines } = await new SqlKeptLogs(new SqliteReader(database)).lines({ ...pay, limit: 10 });
    expect(lines.map(({ text, stream }) => [text, stream])).toEqual([
      ["paid\n", undefined],
      ["refused\n", "stderr"],
    ]);
  } finally {
    database.close();
    await writer.close();
    await directory.remove();
  }
});

test("the file is for its owner alone, and its reader runs while it is read", async () => {
  const directory = await tempDirectory("kept-logs");
  const file = join(directory.path, "logs.db");
  const writer = await SqliteKeptLogsWriter.open({ file });
  // A busy machine may take longer than the default for a read.
  const reads = new SqliteKeptLogs({ file, readLimit: 30_000, idleTimeout: 50 });
  const pay = { namespace: "shop", name: "pay" };
  try {
    expect(((await stat(file)).mode & 0o777).toString(8)).toBe("600");
    expect(reads.readerPid).toBeUndefined();
    await writer.append([{ ...pay, instance: "a", timestamp: "2026-01-31T12:00:00.1Z", text: "paid\n", number: 0 }]);
    expect(await reads.lines({ ...pay, limit: 1 })).toMatchObject({ lines: [{ text: "paid\n" }] });
    await eventually(() => reads.readerPid === undefined, { what: "the reader to end" });
    expect(await reads.lineReplicas(pay)).toEqual(["a"]);
  } finally {
    await reads.close();
    await writer.close();
    await directory.remove();
  }
});
