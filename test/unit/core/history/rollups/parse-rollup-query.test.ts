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
  const all = { step: "10s", since: now - 7_000 - hour, until: now + 3_000 };
  expect(parse({})).toStrictEqual(all);
  expect(parse({ function: "", namespace: "", since: "", until: "", step: "" })).toStrictEqual(all);
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

test("functions are named with their namespaces, and nothing else is narrowed", () => {
  const { step, since, until } = parse({});
  const functions = [{ namespace: "shop", name: "pay" }];
  expect(parse({ function: "pay", namespace: "shop" })).toStrictEqual({ step, since, until, functions });
  const many = Array.from({ length: 50 }, (_, index) => `f${index}`);
  expect(parse({ function: many.join(",") }).functions).toHaveLength(50);
});

test("a time may be as long as nothing: it has the interval in which it lies", () => {
  const at = "2026-01-31T11:00:05Z";
  const interval = { since: Date.UTC(2026, 0, 31, 11, 0, 0), until: Date.UTC(2026, 0, 31, 11, 0, 10) };
  expect(parse({ since: at, until: at })).toEqual({ step: "10s", ...interval });
});

test.each([
  ["09:13:20", "12:00:00", "10s"],
  ["09:13:20", "12:00:01", "1m"],
  // 6 h and 10 s before now: the first interval may have begun before.
  ["05:59:57", "06:10:00", "10s"],
  ["05:59:56.999", "06:10:00", "1m"],
])("from %s to %s in steps of %s: at most 1 000 intervals, all of which are kept", (from, to, step) => {
  expect(parse({ since: `2026-01-31T${from}Z`, until: `2026-01-31T${to}Z` }).step).toBe(step);
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
  [
    { step: "10s", since: "2026-01-31T03:00:00Z", until: "2026-01-31T05:46:40Z" },
    'Cannot read step "10s": expected 1m, as intervals of 10s are kept for 6 h',
  ],
  [{ since: "91d", until: "90d" }, "Cannot read since: expected at most 1000 h before until, and at most 90 days ago"],
  [{ since: "42d", step: "1h" }, "Cannot read since: expected at most 1000 h before until"],
  [{ since: "1h", until: "2h" }, 'Cannot read until "2h": expected a time after since "1h"'],
  [{ since: "2026-02-01T00:00:00Z" }, 'Cannot read until "now": expected a time after since "2026-02-01T00:00:00Z"'],
  [{ since: "soon" }, 'Cannot read since "soon"'],
  [{ until: "later" }, 'Cannot read until "later"'],
  [{ function: "hello,," }, 'Cannot read function "hello,,": expected names with a comma between them'],
  [{ function: "Hello" }, 'Cannot read function "Hello"'],
  [{ function: Array.from({ length: 51 }, (_, n) => `f${n}`).join(",") }, 'Cannot read function "f0,f1,f2'],
  [{ function: Array.from({ length: 51 }, (_, n) => `f${n}`).join(",") }, "expected at most 50 names, got 51"],
])("%j is refused with what fits", (parameters, sentence) => {
  expect(() => parse(parameters)).toThrow(
    expect.objectContaining({ code: "validation_failed", message: expect.stringContaining(sentence) }),
  );
});
