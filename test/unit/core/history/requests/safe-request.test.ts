import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { safeRequest } from "../../../../../runtime/core/history/requests/safe-request.ts";
import { sampleCall } from "../../../../contract/samples.ts";

describe("safeRequest()", () => {
  test("leaves out what may hold credentials, and names it once", () => {
    const headers = ["Cookie", "a", "X-Token", "b", "x-token", "c", "Set-Cookie", "d", "Proxy-Authorization", "e"];
    const { call, redacted } = safeRequest(sampleCall({ headers: [...headers, "Accept", "*/*"] }));
    expect(call.headers).toEqual(["Accept", "*/*"]);
    expect(redacted).toEqual(["cookie", "x-token", "set-cookie", "proxy-authorization"]);
  });

  test("a value that is the name of such a header is only a value", () => {
    const headers = ["Vary", "Cookie", "X-Wants", "authorization"];
    const { call, redacted } = safeRequest(sampleCall({ headers }));
    expect([call.headers, redacted]).toEqual([headers, []]);
  });

  test("leaves out who sent it and from where, without naming it: a replay has its own", () => {
    const sender = [
      "X-Auth-Subject",
      "a",
      "x-auth-issuer",
      "b",
      "X-Auth-Claims",
      "c",
      "X-Forwarded-For",
      "10.0.0.1",
      "X-Real-IP",
      "1",
    ];
    const { call, redacted } = safeRequest(sampleCall({ headers: [...sender, "X-Forwarded-Host", "h"] }));
    expect([call.headers, redacted]).toEqual([["X-Forwarded-Host", "h"], []]);
  });

  test("keeps everything else as it is, and no value of what it names", () => {
    const name = fc.constantFrom("authorization", "X-Secret-Id", "Accept", "X-Key", "x-word", "Content-Type");
    const pairs = fc.array(fc.tuple(name, fc.uuid()), { maxLength: 12 });
    fc.assert(
      fc.property(pairs, (sent) => {
        const original = sampleCall({ headers: sent.flat() });
        const { call, redacted } = safeRequest(original);
        const isLeft = ([header]: readonly [string, string]) => redacted.includes(header.toLowerCase());
        expect(call).toEqual({ ...original, headers: sent.filter((pair) => !isLeft(pair)).flat() });
        expect(redacted.every((each) => /authorization|secret|key/.test(each))).toBe(true);
        expect(call.headers.some((text) => /authorization|secret|key/i.test(text))).toBe(false);
      }),
    );
  });
});
