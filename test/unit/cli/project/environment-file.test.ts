import { expect, test } from "vitest";

import { parseEnvironmentFile } from "../../../../runtime/cli/project/environment-file.ts";

test("parseEnvironmentFile() reads KEY=value lines", () => {
  const text = [
    "# comment",
    "",
    "  A=1 ",
    "B=a=b # no comment",
    "C=",
    "D=' blanks '",
    'E="it\'s"',
    "F='",
    "G=\"a'",
    "H.x-y=$A",
    "A=2\r",
    "__proto__=p",
  ].join("\n");
  const { values, states } = parseEnvironmentFile(text);
  expect(states).toEqual([]);
  expect(Object.entries(values)).toEqual([
    ["A", "2"],
    ["B", "a=b # no comment"],
    ["C", ""],
    ["D", " blanks "],
    ["E", "it's"],
    ["F", "'"],
    ["G", "\"a'"],
    ["H.x-y", "$A"],
    ["__proto__", "p"],
  ]);
});

test.each([
  ["A", "line 1 is not KEY=value"],
  ["=1", "line 1 is not KEY=value"],
  ["\n1A=1", "line 2 is not KEY=value"],
  ["export A=1", "line 1 is not KEY=value"],
  ["A =1", "line 1 is not KEY=value"],
  ["A=a\0b", "line 1 has a NUL"],
])("%j is refused", (text, state) => {
  expect(parseEnvironmentFile(text).states).toEqual([state]);
});
