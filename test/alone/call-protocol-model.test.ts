import { test } from "vitest";

import { checkCallProtocol } from "../support/call-protocol.ts";

test("I1 to I10 hold whatever is sent, cancelled, aborted, killed or lost, in any order", async () => {
  await checkCallProtocol(12);
});
