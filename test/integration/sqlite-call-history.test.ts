import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe } from "vitest";

import { SqlCallHistory } from "../../runtime/adapters/sql/calls/sql-call-history.ts";
import { SqliteCallHistoryWriter } from "../../runtime/adapters/sqlite/calls/sqlite-call-history-writer.ts";
import { SqliteReader } from "../../runtime/adapters/sqlite/database/sqlite-reader.ts";
import { callHistoryContract } from "../contract/call-history.contract.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** Reads in this process: a child for each test would take most of its time. `sqlite-reader` compares both. */
describe("SqlCallHistory of a SQLite file", () =>
  callHistoryContract(async () => {
    const directory = await tempDirectory("history");
    const file = join(directory.path, "calls.db");
    const writer = await SqliteCallHistoryWriter.open({ file });
    const database = new DatabaseSync(file, { readOnly: true });
    return {
      reads: new SqlCallHistory(new SqliteReader(database)),
      writer,
      close: async () => {
        database.close();
        await writer.close();
        await directory.remove();
      },
    };
  }));
