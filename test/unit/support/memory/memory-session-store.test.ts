import { describe } from "vitest";

import { sessionStoreContract } from "../../../contract/session-store.contract.ts";
import { MemorySessionStore } from "../../../support/memory/memory-session-store.ts";

describe("MemorySessionStore", () =>
  sessionStoreContract(async () => ({ store: new MemorySessionStore(), close: async () => {} })));
