import fc from "fast-check";
import { expect, test } from "vitest";

import { environmentLine } from "../../../../../runtime/cli/moves/import/environment-line.ts";
import { parseEnvironmentFile } from "../../../../../runtime/cli/project/environment-file.ts";

const value = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("", '"', '"a"', "'a'", ` "a" `, "# a", "a=b", "\ufeff"),
);

test("a value is read from its line as it was, or has no line", () => {
  fc.assert(
    fc.property(value, (text) => {
      const line = environmentLine("KEY", text);
      if (line === undefined) expect(text).toMatch(/[\0\n\r\u2028\u2029]/);
      else expect(parseEnvironmentFile(line)).toEqual({ values: { KEY: text }, states: [] });
    }),
    { numRuns: 1_000 },
  );
});

test.each(["a\nb", "a\rb", "a\0b", "a\u2028b"])("%j has no line", (text) => {
  expect(environmentLine("KEY", text)).toBeUndefined();
});
