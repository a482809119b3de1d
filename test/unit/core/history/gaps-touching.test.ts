import { expect, test } from "vitest";

import { gapsTouching } from "../../../../runtime/core/history/gaps-touching.ts";
import type { HistoryProgress } from "../../../../runtime/core/ports/call-history.ts";

const gap = { from: 100, to: 200 };
const progress: HistoryProgress = { lagSeconds: 3, complete: false, gaps: [gap] };

test.each([
  ["all calls", undefined, undefined, true],
  ["calls accepted since its end", 200, undefined, true],
  ["calls accepted since then", 201, undefined, false],
  ["a call accepted long before it that is open", 0, undefined, true],
  ["a call that ended as it began", 0, 100, true],
  ["a call that ended before", 0, 99, false],
] as const)("of %s", (_name, from, to, touches) => {
  expect(gapsTouching(progress, from, to)).toEqual({ ...progress, gaps: touches ? [gap] : [] });
});
