import { expect, test } from "vitest";

import { loginLink } from "../../../../runtime/console/data/session/login-link.ts";

const toOf = (path: string, query = ""): string | null =>
  new URL(loginLink("staff", { path, query: new URLSearchParams(query) }), "http://a").searchParams.get("to");

test("signing in leads back to the page, narrowed as it was", () => {
  expect(loginLink("my issuer", { path: "/ui/calls", query: new URLSearchParams("state=failed&text=a|b c") })).toBe(
    "/auth/login?issuer=my+issuer&to=%2Fui%2Fcalls%3Fstate%3Dfailed%26text%3Da%257Cb%2Bc",
  );
  expect(toOf("/ui/calls", "state=failed&text=a|b c")).toBe("/ui/calls?state=failed&text=a%7Cb+c");
  expect(toOf("/ui/f/dev/hello-1/logs")).toBe("/ui/f/dev/hello-1/logs");
});

test.each(["/elsewhere", "/ui", "/ui//evil.example", "/ui/a%2f..", "/ui/a|b", `/ui/${"x".repeat(1_024)}`])(
  "from %s it leads to the first page, as the gateway would refuse that one",
  (path) => {
    expect(toOf(path)).toBe("/ui/");
  },
);
