import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { judgeSender, type SenderFacts } from "../../../../runtime/gateway/auth/judge-sender.ts";

const own = "https://console.example";
const facts = (over: Partial<SenderFacts> = {}): SenderFacts => ({
  kind: "other",
  method: "GET",
  hasCookie: false,
  fetchSite: undefined,
  origin: undefined,
  ...over,
});
const isRefused = (over: Partial<SenderFacts>): boolean =>
  judgeSender(facts(over), (origin) => origin === own) !== undefined;

describe("judgeSender()", () => {
  test.each<[boolean, Partial<SenderFacts>]>([
    [false, {}],
    [false, { method: "POST" }],
    [false, { fetchSite: "same-origin", hasCookie: true }],
    [false, { fetchSite: "same-origin", method: "HEAD" }],
    [false, { fetchSite: "same-origin", method: "POST", origin: own }],
    [false, { kind: "navigation", fetchSite: "none" }],
    [false, { kind: "open", fetchSite: "cross-site", hasCookie: true }],
    [true, { fetchSite: "none" }],
    [true, { fetchSite: "same-site" }],
    [true, { fetchSite: "" }],
    [true, { fetchSite: "same-origin, same-origin" }],
    [true, { fetchSite: "same-origin", method: "POST" }],
    [true, { fetchSite: "same-origin", method: "POST", origin: "null" }],
    [true, { hasCookie: true }],
    [true, { kind: "sign-in", method: "POST", origin: own }],
    [true, { kind: "navigation", fetchSite: "cross-site" }],
    [true, { origin: "https://evil.example" }],
  ])("refused %s: %j", (refused, over) => {
    expect(isRefused(over)).toBe(refused);
  });

  test("nothing with the cookie passes but from a page of the console", () => {
    const text = fc.option(fc.constantFrom("same-origin", "same-site", "cross-site", "none", own, "null", "x"), {
      nil: undefined,
    });
    const method = fc.constantFrom("GET", "HEAD", "POST", "PUT", "DELETE");
    const kind = fc.constantFrom<SenderFacts["kind"]>("navigation", "sign-in", "other");
    fc.assert(
      fc.property(kind, method, text, text, (each, verb, fetchSite, origin) => {
        const refused = isRefused({ kind: each, method: verb, fetchSite, origin, hasCookie: true });
        const isOwnPage = fetchSite === "same-origin" || (each === "navigation" && fetchSite === "none");
        const reads = verb === "GET" || verb === "HEAD";
        expect(refused).toBe(!isOwnPage || (origin === undefined ? !reads : origin !== own));
      }),
    );
  });
});
