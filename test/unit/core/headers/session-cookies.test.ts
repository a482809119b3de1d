import { describe, expect, test } from "vitest";

import { setsSessionCookie, withoutSessionCookies } from "../../../../runtime/core/headers/session-cookies.ts";
import { readRequestHead } from "../../../../runtime/gateway/edge/read-request-head.ts";
import { passedHeaders } from "../../../../runtime/gateway/calls/sync/reply-headers.ts";

describe("withoutSessionCookies()", () => {
  test.each([
    ["a=1; b=2", "a=1; b=2"],
    ["weir-session=x", undefined],
    ["a=1; weir-session=x; b=2", "a=1; b=2"],
    ["weir-session=x; a=1", "a=1"],
    ["__Host-weir=x;weir-login=y;__Host-weir-login=z;a=weir-session", "a=weir-session"],
    ["  weir-session =x; a=1", "a=1"],
    ["weir-session", undefined],
    ["weir-session=x; weir-session=y", undefined],
    ["my-weir-session=x; weir-sessions=y; Weir-Session=z", "my-weir-session=x; weir-sessions=y; Weir-Session=z"],
    ["", ""],
    [" a=weir-session;  b=2; ", " a=weir-session;  b=2; "],
  ])("%j leaves %j", (value, left) => {
    expect(withoutSessionCookies(value)).toBe(left);
  });
});

describe("setsSessionCookie()", () => {
  test.each([
    ["weir-session=x", true],
    ["__Host-weir=x; Path=/; Secure", true],
    ["weir-login=x", true],
    [" weir-session =x", true],
    ["=weir-session=x", true],
    ["= = weir-session=x", true],
    ["weir-session", true],
    ["a=weir-session", false],
    ["a=1; Comment=weir-session", false],
    ["weir-session2=x", false],
    ["theme=dark", false],
  ])("%j: %s", (value, sets) => {
    expect(setsSessionCookie(value)).toBe(sets);
  });
});

test("functions neither get the platform's cookies nor set them", () => {
  const head = readRequestHead(["Host", "gw", "Cookie", "weir-session=s", "Cookie", "a=1; __Host-weir=s"], "10.0.0.9");
  expect(head.forward.list.slice(0, 2)).toEqual(["Cookie", "a=1"]);
  expect(head.forward.list.join()).not.toContain("=s");

  const reply = passedHeaders(200, [
    "Set-Cookie",
    "weir-session=s; Path=/ui",
    "set-cookie",
    "a=1",
    "SET-COOKIE",
    "__Host-weir=s",
  ]);
  expect(reply.list).toEqual(["set-cookie", "a=1"]);
});
