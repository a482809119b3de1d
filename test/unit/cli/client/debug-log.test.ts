import { expect, test } from "vitest";

import { debugLines } from "../../../../runtime/cli/client/debug-log.ts";

test("a first line, and a line for each header", () => {
  expect(debugLines("> GET https://weir/system/info", { accept: "a", via: ["b", "c"], none: undefined })).toBe(
    "> GET https://weir/system/info\n  accept: a\n  via: b,c\n",
  );
});

test.each([
  "authorization",
  "Authorization",
  "proxy-authorization",
  "cookie",
  "set-cookie",
  "x-auth-token",
  "x-client-secret",
  "X-Api-Key",
])("the value of %s is not shown", (name) => {
  expect(debugLines("> GET /", { [name]: "c4nary" })).toBe(`> GET /\n  ${name}: …\n`);
  expect(debugLines("< 200", { [name]: ["c4nary", "c4nary"] })).not.toContain("c4nary");
});

test("what would move the cursor is shown as an escape", () => {
  expect(debugLines("< 200", { server: "a\u001B[2J\rb" })).toBe(`< 200\n  server: a${String.raw`\u001b[2J\u000db`}\n`);
});
