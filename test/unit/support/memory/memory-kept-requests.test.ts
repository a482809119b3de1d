import { describe } from "vitest";

import { keptRequestsContract } from "../../../contract/kept-requests.contract.ts";
import { MemoryKeptRequests } from "../../../support/memory/memory-kept-requests.ts";

describe("MemoryKeptRequests", () =>
  keptRequestsContract(async () => {
    const requests = new MemoryKeptRequests({ most: 7 });
    return { keeper: requests, requests, large: 10, close: async () => {} };
  }));
