import { test } from "vitest";

import { runBeyondLease } from "../support/runs-beyond-lease.ts";

test("FW4 functions that take three times the lease, and FW5 a backlog of long runs: one run each, nothing leased ahead", () =>
  runBeyondLease(3));
