import { describe, expect, test } from "vitest";

import { loginTarget } from "../../../../runtime/gateway/auth/login/login-target.ts";

describe("loginTarget()", () => {
  test.each([
    undefined,
    "",
    "/ui/",
    "/ui/functions/dev/pay",
    "/ui/calls?status=failed&since=1h",
    "/ui/a.b/c%20d?x=//y",
  ])("%j leads below /ui/", (to) => {
    const target = loginTarget(to);
    expect(target).toBe(to === undefined || to === "" ? "/ui/" : to);
    expect(new URL(target, "https://console.example").href).toMatch(/^https:\/\/console\.example\/ui\//);
  });

  test.each([
    "/",
    "/ui",
    "ui/",
    "/uix/",
    "//evil.example/ui/",
    "https://evil.example/ui/",
    "/ui/../system/info",
    "/ui/..",
    "/ui/%2e%2e/auth/logout",
    "/ui/.%2E/x",
    "/ui//evil.example",
    String.raw`/ui/\evil`,
    "/ui/%5cevil",
    "/ui/a%2fb",
    "/ui/#x",
    "/ui/a b",
    "/ui/\n",
    "/ui/%zz",
    `/ui/${"x".repeat(1_024)}`,
  ])("%j is refused", (to) => {
    expect(() => loginTarget(to)).toThrow(expect.objectContaining({ code: "validation_failed" }));
  });
});
