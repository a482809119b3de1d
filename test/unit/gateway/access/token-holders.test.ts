import fc from "fast-check";
import { expect, test, vi } from "vitest";

import { buildRuleSet, type AccessDocument } from "../../../../runtime/core/access/build-rule-set.ts";
import type { RuleSet } from "../../../../runtime/core/access/rule-set.ts";
import { bearerToken, TokenHolders } from "../../../../runtime/gateway/access/token-holders.ts";
import type { OwnToken } from "../../../../runtime/gateway/access/tokens/token-reader.ts";

const issuer: AccessDocument = { kind: "JwtIssuer", name: "i", spec: { iss: "https://issuer.example", aud: ["weir"] } };
const rights: AccessDocument[] = [
  {
    kind: "Policy",
    name: "p",
    spec: { statement: [{ sid: "s", effect: "Allow", action: ["*"], resource: ["*"] }] },
  },
  { kind: "Role", name: "r", spec: { policy: ["p"] } },
];
const noReader = { read: async () => undefined };

function tokenOf(subject: string, subjectIssuer: string): OwnToken {
  const claims = { iss: "https://weir.example", sub: `fed:${subject}`, "fed:iss": subjectIssuer };
  return { kind: "api", claims, policies: new Set(["p"]), expiresAt: 0 };
}

function policiesOf(token: OwnToken, rules: RuleSet): readonly string[] | "everything" {
  const { grants } = new TokenHolders(noReader, () => rules).holderOf(token);
  return grants === "everything" ? grants : grants.policies;
}

test("a token allows nothing once the issuer of its subject is not trusted any more", () => {
  const token = tokenOf("alice", "https://issuer.example");
  expect(policiesOf(token, buildRuleSet([issuer, ...rights]))).toEqual(["p"]);
  expect(policiesOf(token, buildRuleSet(rights))).toEqual([]);
});

test("a right that is taken away counts at the next look, without another token", () => {
  const token = tokenOf("alice", "https://issuer.example");
  let rules = buildRuleSet([issuer, ...rights]);
  const holders = new TokenHolders(noReader, () => rules);
  expect(holders.holderOf(token).grants).toMatchObject({ policies: ["p"] });
  rules = buildRuleSet([issuer]);
  expect(holders.holderOf(token).grants).toMatchObject({ policies: [], allowed: [] });
});

test("a holder is found anew only for another version of the rules", () => {
  const token = tokenOf("alice", "https://issuer.example");
  let rules = buildRuleSet([issuer, ...rights]);
  const holders = new TokenHolders(noReader, () => rules);
  const first = holders.holderOf(token);
  rules = buildRuleSet([issuer, ...rights]);
  expect(holders.holderOf(token)).toBe(first);
  rules = buildRuleSet([issuer, ...rights.slice(0, 1)]);
  expect(holders.holderOf(token)).not.toBe(first);
});

test("a token is looked up once, known or not", async () => {
  const known = tokenOf("alice", "https://issuer.example");
  const read = vi.fn((text: string) => (text === "known" ? known : Promise.resolve(undefined)));
  const holders = new TokenHolders({ read }, () => buildRuleSet([]));
  expect(holders.read("known")).toBe(known);
  expect(await holders.read("other")).toBeUndefined();
  expect(read.mock.calls).toEqual([["known"], ["other"]]);
});

test.each([
  [undefined, undefined],
  ["", undefined],
  ["Bearer", undefined],
  ["Bearer ", undefined],
  ["Bearer   ", undefined],
  ["Basic a.b.c", undefined],
  ["Bearera.b.c", undefined],
  ["Bearer a.b.c", "a.b.c"],
  ["bEARER a.b.c", "a.b.c"],
  ["Bearer   a.b.c  ", "a.b.c"],
  ["Bearer a.b.c d", undefined],
  [" Bearer a.b.c", undefined],
])("bearerToken(%j) is %j", (authorization, token) => {
  expect(bearerToken(authorization)).toBe(token);
});

test("bearerToken() finds what the grammar of the header does, however it is written", () => {
  const piece = fc.constantFrom("Bearer", "bearer", " ", "  ", "a.b.c", "=", "\t", "é", "\u00a0");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const text = pieces.join("");
      expect(bearerToken(text)).toBe(/^bearer +([^ ]+) *$/i.exec(text)?.[1]);
    }),
  );
});
