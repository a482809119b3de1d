import { expect, test } from "vitest";

import {
  parseRollupQuery,
  type RollupParameters,
} from "../../../../../runtime/core/history/rollups/parse-rollup-query.ts";

const now = Date.UTC(2026, 0, 31, 12, 0, 7);
const minute = 60_000;
const hour = 60 * minute;
const parse = (parameters: RollupParameters) => parseRollupQuery(parameters, now, (name = "functions") => name);

test("without parameters: all functions, an hour back, in whole intervals of the finest step", () => {
  expect(parse({})).toEqual({ step: "10s", since: now - 7_000 - hour, until: now + 3_000 });
});

test.each<[RollupParameters, object]>([
  [
    { function: "hello,pay.shop,hello" },
    {
      functions: [
        { namespace: "functions", name: "hello" },
        { namespace: "shop", name: "pay" },
      ],
    },
  ],
  [{ function: "pay", namespace: "shop" }, { functions: [{ namespace: "shop", name: "pay" }] }],
  [{ namespace: "shop" }, { namespace: "shop" }],
  [{ since: "2h46m" }, { step: "10s" }],
  [{ since: "2h47m" }, { step: "1m" }],
  [{ since: "5h", until: "4h" }, { step: "10s" }],
  // Intervals of 10 s are kept for 6 h.
  [{ since: "7h", until: "6h30m" }, { step: "1m" }],
  [{ since: "7d" }, { step: "1h" }],
  [{ since: "8d", until: "191h" }, { step: "1h" }],
  [{ since: "2h", step: "1m" }, { step: "1m" }],
  [
    { since: "2026-01-31T11:00:30Z", step: "1h" },
    { since: now - 7_000 - hour, until: now - 7_000 + hour },
  ],
])("%j", (parameters, expected) => {
  expect(parse(parameters)).toMatchObject(expected);
});

test.each<[RollupParameters, string]>([
  [{ step: "7s" }, 'Cannot read step "7s": expected 10s, 1m, 1h; 10s fits this time'],
  [{ step: "7s", since: "1d" }, 'Cannot read step "7s": expected 10s, 1m, 1h; 1h fits this time'],
  [
    { step: "10s", since: "5h" },
    'Cannot read step "10s": expected 1m, as a response has at most 1000 intervals, and this has 1801',
  ],
  [
    { step: "10s", since: "7h", until: "6h30m" },
    'Cannot read step "10s": expected 1m, as intervals of 10s are kept for 6 h',
  ],
  [{ since: "91d", until: "90d" }, "Cannot read since: expected at most 1000 h before until, and at most 90 days ago"],
  [{ since: "42d", step: "1h" }, "Cannot read since: expected at most 1000 h before until"],
  [{ since: "1h", until: "2h" }, 'Cannot read until "2h": expected a time after since "1h"'],
  [{ since: "soon" }, 'Cannot read since "soon"'],
  [{ function: "hello,," }, "expected names with a comma between them"],
  [{ function: "Hello" }, 'Cannot read function "Hello"'],
  [{ function: Array.from({ length: 51 }, (_, n) => `f${n}`).join(",") }, "expected at most 50 names, got 51"],
])("%j is refused with what fits", (parameters, sentence) => {
  expect(() => parse(parameters)).toThrow(
    expect.objectContaining({ code: "validation_failed", message: expect.stringContaining(sentence) }),
  );
});
