import fc from "fast-check";
import { expect, test } from "vitest";

import { longestToken, parseToken } from "../../../../../runtime/core/access/tokens/parse-token.ts";
import { tokenPart } from "../../../../support/token-keys.ts";

const token = (header: unknown, claims: unknown = {}, signature = "c2ln"): string =>
  `${tokenPart(header)}.${tokenPart(claims)}.${signature}`;

test("a token reads as its header and claims", () => {
  expect(parseToken(token({ alg: "ES256", kid: "1", typ: "JWT", jku: "https://x.example" }, { iss: "a" }))).toEqual({
    kind: "token",
    header: { alg: "ES256", kid: "1", typ: "JWT" },
    claims: { iss: "a" },
  });
  expect(parseToken(token({ alg: "EdDSA" }))).toMatchObject({ header: { alg: "EdDSA", kid: undefined } });
});

const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });

test.each([
  ["two parts", "a.b", "it does not have three parts"],
  ["four parts", "a.b.c.d", "it does not have three parts"],
  ["no signature", token({ alg: "ES256" }, {}, ""), "its parts are not base64url"],
  ["a header that is no base64url", `=.${tokenPart({})}.c2ln`, "its parts are not base64url"],
  ["claims that are no base64url", `${tokenPart({ alg: "ES256" })}.{}.c2ln`, "its parts are not base64url"],
  ["padding", token({ alg: "ES256" }, {}, "c2lnbg=="), "its parts are not base64url"],
  // "c2lh" and "c2li" end in bits of no byte when one character is missing.
  ["bits beside its bytes", token({ alg: "ES256" }, {}, "c2h"), "its parts are not base64url"],
  ["a header that is no JSON", token("{"), "its header or claims are no JSON object"],
  ["a header that is no object", token([]), "its header or claims are no JSON object"],
  ["a header that is null", token(null), "its header or claims are no JSON object"],
  ["a header that is a number", token(5), "its header or claims are no JSON object"],
  ["claims that are no JSON", token({ alg: "ES256" }, "{"), "its header or claims are no JSON object"],
  ["claims that are null", token({ alg: "ES256" }, null), "its header or claims are no JSON object"],
  ["claims that are a number", token({ alg: "ES256" }, 5), "its header or claims are no JSON object"],
  ["claims that are a text", token({ alg: "ES256" }, '"a"'), "its header or claims are no JSON object"],
  ["claims that are a list", token({ alg: "ES256" }, []), "its header or claims are no JSON object"],
  [
    "claims that are no UTF-8",
    `${tokenPart({ alg: "ES256" })}.${Buffer.from([0x22, 0xff, 0x22]).toString("base64url")}.c2ln`,
    "its header or claims are no JSON object",
  ],
  [
    "a claim that is no UTF-8",
    `${tokenPart({ alg: "ES256" })}.${Buffer.from('{"sub":"\u00ff"}', "latin1").toString("base64url")}.c2ln`,
    "its header or claims are no JSON object",
  ],
  ["alg none", token({ alg: "none" }), "its alg is none of RS256, PS256, ES256, EdDSA"],
  ["alg HS256", token({ alg: "HS256" }), "its alg is none of RS256, PS256, ES256, EdDSA"],
  ["no alg", token({}), "its alg is none of RS256, PS256, ES256, EdDSA"],
  ["crit", token({ alg: "ES256", crit: ["exp"] }), "its header has crit"],
  ["crit of what libraries know", token({ alg: "ES256", crit: ["b64"], b64: false }), "its header has crit"],
  ["a kid that is a number", token({ alg: "ES256", kid: 1 }), "its kid is no text"],
  ["a typ that is a list", token({ alg: "ES256", typ: ["JWT"] }), "its typ is no text"],
  ["33 levels", token({ alg: "ES256" }, nested(33)), "its claims have more than 32 levels"],
  ["16 385 characters", token({ alg: "ES256" }).padEnd(longestToken + 1, "a"), "it is longer than 16384 characters"],
])("a token is malformed with %s", (_name, text, why) => {
  expect(parseToken(text)).toEqual({ kind: "malformed", why });
});

test("what is allowed at most is allowed", () => {
  const short = token({ alg: "ES256" }, nested(32));
  expect(parseToken(short)).toMatchObject({ kind: "token" });
  const text = short.padEnd(longestToken, "A");
  // Four characters are three bytes, whatever they are.
  expect(parseToken(text.slice(0, text.length - ((text.length - text.lastIndexOf(".") - 1) % 4)))).toMatchObject({
    kind: "token",
  });
});

test("a claim may be null", () => {
  expect(parseToken(token({ alg: "ES256" }, { name: null, team: { lead: null } }))).toMatchObject({
    claims: { name: null, team: { lead: null } },
  });
});

test("names of prototypes are no members of a header", () => {
  expect(parseToken(token({}, { iss: "a" }))).toMatchObject({ kind: "malformed" });
  const parsed = parseToken(`${tokenPart({ alg: "ES256" })}.${tokenPart('{"__proto__":{"iss":"a"}}')}.c2ln`);
  expect(parsed.kind === "token" && parsed.claims["iss"]).toBeUndefined();
});

test("no text makes it throw, and what it takes it takes as a whole", () => {
  const character = fc.constantFrom(...'eyJhbGci.{}"=-_A1 \0é'.split(""));
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(character).map((all) => all.join("")),
      ),
      (text) => {
        const parsed = parseToken(text);
        expect(parsed.kind === "malformed" || text.split(".").length === 3).toBe(true);
      },
    ),
  );
});
