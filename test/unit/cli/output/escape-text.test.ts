import { expect, test } from "vitest";

import { escapeLine, escapeText } from "../../../../runtime/cli/output/escape-text.ts";

test.each([
  ["\u001B[31m", String.raw`\u001b[31m`],
  ["a\rb", String.raw`a\u000db`],
  ["\u0000\u0007\u0008\u007F", String.raw`\u0000\u0007\u0008\u007f`],
  ["\u009B1m\u0085", String.raw`\u009b1m\u0085`],
  ["\u202Etxt\u202C \u2066x\u2069 \u200F\u200E\u061C", String.raw`\u202etxt\u202c \u2066x\u2069 \u200f\u200e\u061c`],
])("%j is shown as %s", (text, shown) => {
  expect(escapeText(text)).toBe(shown);
  expect(escapeLine(text)).toBe(shown);
  expect(escapeText(shown)).toBe(shown);
});

test("text of people stays", () => {
  const text = 'Grüße, 日本語, שלום, 👩‍👩‍👧 "\\u001b" \\ \u00A0';
  expect(escapeText(text)).toBe(text);
  expect(escapeLine(text)).toBe(text);
});

test("line breaks and tabs stay in text, and not in a line", () => {
  expect(escapeText("a\n\tb")).toBe("a\n\tb");
  expect(escapeLine("a\n\tb")).toBe(String.raw`a\n\tb`);
});
