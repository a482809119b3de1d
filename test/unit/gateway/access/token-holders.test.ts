import { expect, test } from "vitest";

import { buildRuleSet, type AccessDocument } from "../../../../runtime/core/access/build-rule-set.ts";
import type { RuleSet } from "../../../../runtime/core/access/rule-set.ts";
import { TokenHolders } from "../../../../runtime/gateway/access/token-holders.ts";
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
const noReader = { known: () => undefined, read: async () => undefined };

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
