import { describe } from "vitest";

import { auditTrailContract } from "../../../contract/audit-trail.contract.ts";
import { MemoryAuditTrail } from "../../../support/memory/memory-audit-trail.ts";

describe("MemoryAuditTrail", () => {
  auditTrailContract(async () => ({
    trail: new MemoryAuditTrail({ maxRefusals: 1_000 }),
    tooManyRefusals: 1_000,
    close: async () => {},
  }));
});
