import { expect, test } from "vitest";

import { formatTaggedLine, lineTag, parseTaggedLine } from "../../../../runtime/core/replicas/tagged-line.ts";

const call = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";

test.each(["", "text", "  two  ", "\u001e", `\u001e${call}\u001ftwice`])("%j comes back as it was", (text) => {
  expect(parseTaggedLine(formatTaggedLine(text, call))).toEqual({ text, call });
});

test("a line without a call has no tag", () => {
  expect(formatTaggedLine("text", undefined)).toBe("text");
  expect(lineTag("42")).toBe("");
  expect(lineTag(call.toUpperCase())).toBe(`\u001e${call}\u001f`);
});

test.each([
  "text",
  call,
  `\u001e${call}`,
  `\u001e${call} \u001f`,
  `\u001e${"x".repeat(36)}\u001ftext`,
  ` \u001e${call}\u001ftext`,
  `x${call}\u001ftext`,
])("%j is no tagged line", (line) => {
  expect(parseTaggedLine(line)).toEqual({ text: line });
});
