import { expect, test } from "vitest";

import { signingKeyOverlap } from "../../../../runtime/api/iam/signing-keys.ts";
import { clockTolerance, longestLifetime } from "../../../../runtime/core/access/tokens/claims-fault.ts";

/** A gateway that starts within 10 minutes after a rotation signs with the previous key for 2 minutes more. */
const latestSignature = 12 * 60;

test("the previous key is needed for longer than anything that it signed is valid", () => {
  const needed = (latestSignature + longestLifetime + 2 * clockTolerance) * 1_000;
  expect(signingKeyOverlap).toBeGreaterThan(needed);
  expect(signingKeyOverlap).toBeLessThan(needed + 3_600_000);
});
