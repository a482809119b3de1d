import { expect, test } from "vitest";

import { counted } from "../../../../runtime/cli/output/counted.ts";
import { formatFields } from "../../../../runtime/cli/output/format-fields.ts";

test("fields have their values in a column; those without a value are left out", () => {
  const fields = [
    ["name", "a"],
    ["long label", undefined],
    ["labels", "x=1"],
    ["", "y=2"],
    ["empty", ""],
  ] as const;
  expect(formatFields(fields)).toBe("name    a\nlabels  x=1\n        y=2\n");
  expect(formatFields([])).toBe("");
});

test("a value that would move the cursor is shown as an escape", () => {
  expect(formatFields([["a", "\u001B[2J\n"]])).toBe(`a  ${String.raw`\u001b[2J\n`}\n`);
});

test.each([
  [0, "0 functions"],
  [1, "1 function"],
  [2, "2 functions"],
])("%i", (count, text) => {
  expect(counted(count, "function")).toBe(text);
});
