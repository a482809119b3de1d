import { stat } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, test } from "vitest";

import { SqlKeptLogs } from "../../runtime/adapters/sql/logs/sql-kept-logs.ts";
import { SqliteReader } from "../../runtime/adapters/sqlite/database/sqlite-reader.ts";
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
