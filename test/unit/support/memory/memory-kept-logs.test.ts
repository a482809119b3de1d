import { describe } from "vitest";

import { keptLogsContract } from "../../../contract/kept-logs.contract.ts";
import { MemoryKeptLogs } from "../../../support/memory/memory-kept-logs.ts";

describe("MemoryKeptLogs", () =>
  keptLogsContract(async () => {
    const logs = new MemoryKeptLogs();
    return { reads: logs, writer: logs, close: () => Promise.resolve() };
  }));
