import { describe, expect, test } from "vitest";

import { askedHeaders } from "../../../../runtime/gateway/console-port/calls/asked-headers.ts";
import { toldHeaders } from "../../../../runtime/gateway/console-port/calls/told-reply.ts";

describe("askedHeaders()", () => {
  test("are the pairs, flat, without cookies of a session", () => {
    const text =
      '[["Accept","text/plain"],["X-A"," b "],["Cookie","a=1; weir-session=x"],["Authorization","Bearer t"]]';
    expect(askedHeaders(text)).toEqual([
      "Accept",
      "text/plain",
      "X-A",
      "b",
      "Cookie",
      "a=1",
      "Authorization",
      "Bearer t",
    ]);
    expect(askedHeaders(undefined)).toEqual([]);
    expect(askedHeaders("[]")).toEqual([]);
  });

  test.each([
    "",
    "x",
    "null",
    "{}",
    '["a","b"]',
    '[["a"]]',
    '[["a","b","c"]]',
    '[["a",1]]',
    '[["a b","c"]]',
    String.raw`[["a","b\nc"]]`,
    '[["Host","x"]]',
    '[["Content-Length","1"]]',
    '[["Transfer-Encoding","chunked"]]',
    '[["X-Forwarded-For","1.2.3.4"]]',
    '[["X_Real-IP","1.2.3.4"]]',
    '[["Forwarded","for=1.2.3.4"]]',
    '[["Weir-Invoke","x"]]',
    '[["Connection","close"]]',
  ])("%s cannot be sent", (text) => {
    expect(() => askedHeaders(text)).toThrow(expect.objectContaining({ code: "validation_failed" }));
  });
});

test("what a function said is data: no browser shows it, and its headers are text", () => {
  const headers = ["Content-Type", "text/html", "Set-Cookie", "a=1", "Set-Cookie", "b=é\u{1F600}"];
  const told = toldHeaders({ status: 418, headers, truncated: false });
  expect(told).toMatchObject({
    "Content-Type": "application/octet-stream",
    "Content-Disposition": "attachment",
    "Content-Security-Policy": expect.stringMatching(/^default-src 'none';.*; sandbox$/),
    "Cache-Control": "no-store",
    "X-Weir-Status": "418",
  });
  const text = told["X-Weir-Headers"] ?? "";
  expect(text).toMatch(/^[\u0020-\u007E]*$/);
  expect(JSON.parse(text)).toEqual([
    ["Content-Type", "text/html"],
    ["Set-Cookie", "a=1"],
    ["Set-Cookie", "b=é\u{1F600}"],
  ]);
  expect(told).not.toHaveProperty("X-Weir-Truncated");
  expect(toldHeaders({ status: 200, headers: [], truncated: true })).toHaveProperty("X-Weir-Truncated", "true");
});
