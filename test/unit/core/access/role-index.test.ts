import fc from "fast-check";
import { expect, test } from "vitest";

import type { RoleSpec } from "../../../../runtime/api/resources/iam-resources.ts";
import { buildRuleSet, type AccessDocument } from "../../../../runtime/core/access/build-rule-set.ts";
import type { Claims } from "../../../../runtime/core/access/claims.ts";
import { isPrincipal, meetsCondition } from "../../../../runtime/core/access/conditions.ts";
import { candidateRoles } from "../../../../runtime/core/access/role-index.ts";
import { noRules } from "../../../../runtime/core/access/rule-set.ts";

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

const core = { "jwt:groups": ["core"] };
test.each<[string, Partial<RoleSpec>]>([
  ["a principal", { principal: core }],
  ["StringEqual", { condition: { StringEqual: { "jwt:groups": "core" } } }],
  ["StringEquals", { condition: { StringEquals: { "jwt:groups": ["core"] } } }],
  ["ForAnyValue:StringEqual", { condition: { "ForAnyValue:StringEqual": core } }],
  ["a group beside the subject", { principal: { ...core, "jwt:sub": ["bob"] } }],
  ["a group beside the issuer", { principal: { "jwt:iss": ["i"], ...core } }],
  ["an issuer", { principal: { "jwt:iss": ["other"] } }],
])("a role that is for others by %s is not looked at, one that is not is", (_name, spec) => {
  const rules = buildRuleSet([{ kind: "Role", name: "r", spec: { policy: ["p"], ...spec } }]);
  const found = (held: Claims): number => candidateRoles(rules, held).length;
  expect(found({ iss: "i", sub: "alice", groups: ["web"] })).toBe(0);
  expect(found({ iss: "other", sub: "bob", groups: ["core"] })).toBe(1);
});

test("of a role for a subject, its issuer and group, the subject is looked for: it tells most apart", () => {
  const principal = { "jwt:iss": ["i"], ...core, "jwt:sub": ["bob"] };
  const rules = buildRuleSet([{ kind: "Role", name: "r", spec: { policy: ["p"], principal } }]);
  expect(candidateRoles(rules, { iss: "i", groups: ["core"], sub: "alice" })).toEqual([]);
});

test("a role with a pattern is looked at for all", () => {
  const condition = { StringLike: { "jwt:sub": "a*" } };
  const rules = buildRuleSet([{ kind: "Role", name: "r", spec: { policy: ["p"], condition } }]);
  expect(candidateRoles(rules, {})).toHaveLength(1);
});

test("roles are indexed once for a set of rules, whatever number of tokens is judged by it", () => {
  let read = 0;
  const counting = {
    name: "r",
    policy: ["p"],
    get principal() {
      read += 1;
      return { "jwt:sub": ["alice"] };
    },
  };
  const rules = { ...noRules, roles: [counting] };
  for (const sub of ["alice", "bob", "alice"])
    expect(candidateRoles(rules, { sub })).toHaveLength(sub === "alice" ? 1 : 0);
  expect(read).toBe(1);
});
