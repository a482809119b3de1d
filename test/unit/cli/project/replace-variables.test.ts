import { expect, test } from "vitest";

import { replaceInText } from "../../../../runtime/cli/project/replace-variables.ts";

const values: Readonly<Record<string, string>> = { A: "a", EMPTY: "", DOLLAR: "$&${A}" };
const replaced = (text: string) => replaceInText(text, (name) => values[name]);

test.each([
  ["no variables: $A $ {A} }", "no variables: $A $ {A} }"],
  ["${A}${A}-${A}", "aa-a"],
  ["${EMPTY}", ""],
  ["${EMPTY:-b}", "b"],
  ["${GONE:-}", ""],
  ["${GONE:-a:-b c$}", "a:-b c$"],
  ["${A:-b}", "a"],
  // What a variable holds is not read again.
  ["${DOLLAR}", "$&${A}"],
  ["$${A}", "${A}"],
  ["$$${A}", "$${A}"],
  ["${GONE:-two\nlines}", "two\nlines"],
])("%j becomes %j", (text, expected) => {
  expect(replaced(text)).toEqual({ text: expected, states: [] });
});

test.each([
  ["${GONE}", "variable GONE is not set"],
  ["${}", '"${}" is neither'],
  ["${1A}", '"${1A}" is neither'],
  ["${A-b}", '"${A-b}" is neither'],
  ["${A:-", '"${A:-" is neither'],
  ["${ A }", '"${ A }" is neither'],
])("%j cannot be replaced", (text, state) => {
  const { text: left, states } = replaced(text);
  expect(left).toBe(text);
  expect(states).toEqual([expect.stringContaining(state)]);
});

test("every variable that is not set is named", () => {
  expect(replaced("${X}${A}${Y}").states).toHaveLength(2);
});
