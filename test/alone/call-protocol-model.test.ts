import { test } from "vitest";

import { checkCallProtocol } from "../support/call-protocol.ts";

test("the call protocol keeps I1 to I10 whatever is sent, cancelled, cut off, killed or lost, in whatever order", async () => {
  await checkCallProtocol(12);
});
