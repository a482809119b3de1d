import { join } from "node:path";

import { describe } from "vitest";

import { SqliteCallHistoryWriter } from "../../runtime/adapters/sqlite/calls/sqlite-call-history-writer.ts";
import { SqliteCallHistory } from "../../runtime/adapters/sqlite/calls/sqlite-call-history.ts";
import { callHistoryContract } from "../contract/call-history.contract.ts";
import { tempDirectory } from "../support/temp-directory.ts";

describe("SqliteCallHistory", () =>
  callHistoryContract(async () => {
    const directory = await tempDirectory("history");
    const file = join(directory.path, "calls.db");
    const writer = await SqliteCallHistoryWriter.open({ file });
    // Not what is tested here, and a busy machine may take longer than the default.
    const reads = new SqliteCallHistory({ file, readLimit: 30_000 });
    return {
      reads,
      writer,
      close: async () => {
        await reads.close();
        await writer.close();
        await directory.remove();
      },
    };
  }));
