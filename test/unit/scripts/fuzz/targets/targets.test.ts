import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { asyncFunctionPrefix, functionPrefix, splitTarget } from "../../../../../runtime/gateway/calls/split-target.ts";
import { checkSplit } from "../../../../../scripts/fuzz/targets/path-split.ts";

const label = fc.stringMatching(/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/);
const path = fc.stringMatching(/^(?:\/[!-"$->@-~]{0,20}){0,4}$/);
const query = fc.stringMatching(/^[!-~]{0,40}$/);

describe.each([functionPrefix, asyncFunctionPrefix])("targets that begin with %s", (prefix) => {
  test("are split into the parts that they were built from", () => {
    const parts = fc.record({
      name: label,
      namespace: fc.option(label, { nil: undefined }),
      path,
      query: fc.option(query, { nil: undefined }),
    });
    fc.assert(
      fc.property(parts, (made) => {
        const key = made.namespace === undefined ? made.name : `${made.name}.${made.namespace}`;
        const target = prefix + key + made.path + (made.query === undefined ? "" : `?${made.query}`);
        expect(splitTarget(target, prefix)).toEqual({ key, ...made });
      }),
    );
  });

  test("have one reading, whatever follows", () => {
    const hostile = fc.constantFrom("..", "/../", "//", "%2f", "%2e%2e", ";", "\\", "@", "#", "?", ".", "echo", "dev");
    const rest = fc.array(fc.oneof(hostile, label, query), { maxLength: 8 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(rest, (each) => checkSplit(prefix, each)),
      { numRuns: 500 },
    );
  });
});
