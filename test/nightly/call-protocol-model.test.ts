import { test } from "vitest";

import { checkCallProtocol } from "../support/call-protocol.ts";

/** Checks in parallel; they mostly wait. */
const concurrency = 8;
const sequences = 2_000;

test("2 000 random sequences: the call protocol keeps I1 to I10", async () => {
  await Promise.all(Array.from({ length: concurrency }, () => checkCallProtocol(sequences / concurrency)));
}, 1_200_000);
