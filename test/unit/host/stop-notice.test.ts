import { expect, test } from "vitest";

import { stopNotice } from "../../../runtime/host/stop-notice.ts";

test.each([
  [{ calls: 2, runs: 1 }, "waiting for 2 calls, 1 queued run; Ctrl-C again ends them now"],
  [{ calls: 1, runs: 0 }, "waiting for 1 call; Ctrl-C again ends them now"],
  [{ calls: 0, runs: 3 }, "waiting for 3 queued runs; Ctrl-C again ends them now"],
  [{ calls: 0, runs: 0 }, undefined],
])("with %j in flight a stop says %j", (inFlight, notice) => {
  expect(stopNotice(inFlight)).toBe(notice);
});
