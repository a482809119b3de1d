import fc from "fast-check";
import { expect, test } from "vitest";

import type { RoleSpec } from "../../../../runtime/api/resources/iam-resources.ts";
import { buildRuleSet, type AccessDocument } from "../../../../runtime/core/access/build-rule-set.ts";
import { isPrincipal, meetsCondition } from "../../../../runtime/core/access/conditions.ts";
import { candidateRoles } from "../../../../runtime/core/access/role-index.ts";

const text = fc.constantFrom("a", "b", "c");
const claim = fc.constantFrom("sub", "iss", "groups");
const key = claim.map((name) => `jwt:${name}`);
const texts = fc.array(text, { minLength: 1, maxLength: 2 });
const operator = fc.constantFrom("StringEqual", "StringLike", "StringEqualIgnoreCase", "ForAnyValue:StringEqual");
const role = fc.record(
  {
    policy: fc.constant(["p"] as string[]),
    principal: fc.dictionary(key, texts, { maxKeys: 2, noNullPrototype: true }),
    condition: fc.dictionary(
      operator,
      fc.dictionary(key, fc.oneof(text, texts), { maxKeys: 2, noNullPrototype: true }),
      {
        maxKeys: 2,
        noNullPrototype: true,
      },
    ),
  },
  { requiredKeys: ["policy"], noNullPrototype: true },
);
const claims = fc.dictionary(claim, fc.oneof(text, texts), { maxKeys: 3, noNullPrototype: true });

test("no role that matches is left out, and their order stays", () => {
  fc.assert(
    fc.property(fc.array(role, { maxLength: 8 }), claims, (specs, held) => {
      const documents = specs.map((spec, index): AccessDocument => ({
        kind: "Role",
        name: `r${index}`,
        spec: spec as RoleSpec,
      }));
      const rules = buildRuleSet(documents);
      const matching = (roles: typeof rules.roles): string[] =>
        roles
          .filter(({ principal, condition }) => isPrincipal(principal, held) && meetsCondition(condition, held))
          .map(({ name }) => name);
      expect(matching(candidateRoles(rules, held))).toEqual(matching(rules.roles));
    }),
  );
});

test("a role for one of several groups is there once, whatever number of them a token has", () => {
  const condition = { "ForAnyValue:StringEqual": { "jwt:groups": ["a", "b"] } };
  const rules = buildRuleSet([{ kind: "Role", name: "r", spec: { policy: ["p"], condition } }]);
  expect(candidateRoles(rules, { groups: ["b", "a", "b"] }).map(({ name }) => name)).toEqual(["r"]);
});

test("of thousands of roles for others, none is looked at", () => {
  const documents = Array.from({ length: 3_000 }, (_, index): AccessDocument => ({
    kind: "Role",
    name: `r${index}`,
    spec: { policy: ["p"], principal: { "jwt:iss": ["i"], "jwt:sub": [`s${index}`] } },
  }));
  expect(candidateRoles(buildRuleSet(documents), { iss: "i", sub: "s7" }).map(({ name }) => name)).toEqual(["r7"]);
});
