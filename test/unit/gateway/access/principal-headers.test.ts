import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { administrator, tokenHolder } from "../../../../runtime/core/access/principal.ts";
import { noGrants } from "../../../../runtime/core/access/grants.ts";
import { principalHeaders } from "../../../../runtime/gateway/access/principal-headers.ts";

const ref = { namespace: "dev", name: "pay" };
const holder = (sub: string, more: object = {}) =>
  tokenHolder({ sub: `fed:${sub}`, "fed:iss": "https://issuer.example", ...more }, noGrants);
const subjectOf = (sub: string) => principalHeaders(holder(sub), undefined, ref)[1];

describe("principalHeaders()", () => {
  test("tell subject and issuer, and the administrator's name alone", () => {
    expect(principalHeaders(holder("alice"), undefined, ref)).toEqual([
      "X-Auth-Subject",
      "fed:alice",
      "X-Auth-Issuer",
      "https://issuer.example",
    ]);
    expect(principalHeaders(administrator("basic"), undefined, ref)).toEqual(["X-Auth-Subject", "admin"]);
    expect(principalHeaders(administrator("open"), undefined, ref)).toEqual([]);
  });

  test.each([
    ["auth0|5f7c", "fed:auth0|5f7c"],
    ["repo:acme/shop:ref:refs/heads/main", "fed:repo:acme/shop:ref:refs/heads/main"],
    ["Jürgen Groß", "fed:J%C3%BCrgen%20Gro%C3%9F"],
    ["a%20b", "fed:a%2520b"],
    ["a\r\nX-Auth-Claims: e30", "fed:a%0D%0AX-Auth-Claims:%20e30"],
    ["😀", "fed:%F0%9F%98%80"],
  ])("the subject %j is sent as %s", (sub, sent) => {
    expect(subjectOf(sub)).toBe(sent);
  });

  test("no two subjects are alike, and all can be sent", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (sub) => {
        const sent = subjectOf(sub) ?? "";
        return /^[!-~]+$/.test(sent) && decodeURIComponent(sent) === `fed:${sub}`;
      }),
    );
  });

  test("claims are those that are asked for and there, own ones only", () => {
    const told = principalHeaders(
      holder("alice", { a: 1, b: ["x"], c: null }),
      ["b", "c", "d", "toString", "iss"],
      ref,
    );
    expect(told.slice(4)).toEqual(["X-Auth-Claims", expect.any(String)]);
    expect(JSON.parse(Buffer.from(told[5] ?? "", "base64url").toString())).toEqual({
      b: ["x"],
      c: null,
      iss: "https://issuer.example",
    });
  });

  test("more than 4 KiB in all is refused with the annotation's name", () => {
    expect(() => principalHeaders(holder("alice", { a: "x".repeat(3_100) }), ["a"], ref)).toThrow(
      /^Cannot call function "pay" in "dev": the caller's claims take \d{4} bytes, more than 4096; annotation com\.service\.auth\.claims of the function must list fewer$/,
    );
    expect(() => principalHeaders(holder("x".repeat(4_096)), undefined, ref)).toThrow("more than 4096");
  });

  test("are made once for a caller and a list of claims", () => {
    const [alice, bob] = [holder("alice", { a: 1, b: 2 }), holder("bob", { a: 1, b: 2 })];
    const [asked, others] = [["a"], ["b"]];
    const told = [undefined, asked, others].map((claims) => principalHeaders(alice, claims, ref));
    expect(new Set(told.map((headers) => headers.join())).size).toBe(3);
    for (const [index, claims] of [undefined, asked, others].entries()) {
      expect(principalHeaders(alice, claims, { namespace: "dev", name: "shop" })).toBe(told[index]);
      expect(principalHeaders(bob, claims, ref)[1]).toBe("fed:bob");
    }
    // A function that is deployed anew has another list.
    expect(principalHeaders(alice, ["a"], ref)).not.toBe(told[1]);
  });

  test("that are kept for one caller take 4 KiB at most, and are of 8 lists at most", () => {
    const lists = Array.from({ length: 9 }, (_, index) => [`c${index}`]);
    const first = (caller: ReturnType<typeof holder>, used: number) => {
      const told = lists.slice(0, used).map((claims) => principalHeaders(caller, claims, ref));
      return principalHeaders(caller, lists[0], ref) === told[0];
    };
    const claims = (length: number) => Object.fromEntries(lists.flat().map((name) => [name, "x".repeat(length)]));
    expect(first(holder("alice", claims(1)), 8)).toBe(true);
    expect(first(holder("alice", claims(1)), 9)).toBe(false);
    // About 1.4 KiB each.
    expect(first(holder("alice", claims(1_000)), 2)).toBe(true);
    expect(first(holder("alice", claims(1_000)), 3)).toBe(false);
  });
});
