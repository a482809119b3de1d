import { describe } from "vitest";

import { callHistoryContract } from "../../../contract/call-history.contract.ts";
import { MemoryCallHistory } from "../../../support/memory/memory-call-history.ts";

describe("MemoryCallHistory", () =>
  callHistoryContract(async () => {
    const history = new MemoryCallHistory();
    return { reads: history, writer: history, close: async () => {} };
  }));
