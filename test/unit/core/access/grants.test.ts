import { expect, test } from "vitest";

import type { PolicySpec } from "../../../../runtime/api/resources/iam-resources.ts";
import { decideAccess } from "../../../../runtime/core/access/decide-access.ts";
import { grantsOf, noGrants, type Grants } from "../../../../runtime/core/access/grants.ts";
import { noRules } from "../../../../runtime/core/access/rule-set.ts";
import { policy, role, rulesOf } from "../../../support/access-documents.ts";

const roles = (grants: Grants) => ({
  allowed: grants.allowed.map((grant) => grant.role),
  reported: grants.reported.map((grant) => grant.role),
});

test("a role gives its policies only to whom both its principal and its condition match", () => {
  const rules = rulesOf(
    policy("look", ["Function:List"], ["*"]),
    role("r", ["look"], {
      principal: { "jwt:team": ["core"] },
      condition: { StringLike: { "jwt:email": "*@example.com" } },
    }),
  );
  const given = (team: string, email: string) => grantsOf(rules, { team, email }).policies;
  expect(given("core", "a@example.com")).toEqual(["look"]);
  expect(given("core", "a@elsewhere.example")).toEqual([]);
  expect(given("web", "a@example.com")).toEqual([]);
});

test("what a role in force allows is not reported, and what a reporting role would allow is not in force", () => {
  const rules = rulesOf(
    policy("look", ["Function:List"], ["*"]),
    role("in-force", ["look"], { principal: { "jwt:sub": ["alice"] } }),
    role("tried", ["look"], { principal: { "jwt:sub": ["bob"] }, mode: "report" }),
  );
  expect(roles(grantsOf(rules, { sub: "alice" }))).toEqual({ allowed: ["in-force"], reported: [] });
  expect(roles(grantsOf(rules, { sub: "bob" }))).toEqual({ allowed: [], reported: ["tried"] });
  expect(grantsOf(rules, { sub: "bob" }).policies).toEqual([]);
});

test("a statement counts only for whom its own condition matches", () => {
  const statement = (sid: string, condition?: PolicySpec["statement"][number]["condition"]) => ({
    sid,
    effect: "Allow" as const,
    action: ["Function:List"],
    resource: ["dev:*"],
    ...(condition === undefined ? {} : { condition }),
  });
  const rules = rulesOf(
    {
      kind: "Policy",
      name: "p",
      spec: { statement: [statement("core", { StringEqual: { "jwt:team": "core" } }), statement("all")] },
    },
    role("r", ["p"]),
  );
  const sids = (team: string): readonly string[] => grantsOf(rules, { team }).allowed.map(({ sid }) => sid);
  expect(sids("core")).toEqual(["core", "all"]);
  expect(sids("web")).toEqual(["all"]);
});

test("a policy that several roles give counts once, for the first of them by name", () => {
  const rules = rulesOf(policy("look", ["Function:List"], ["*"]), role("b", ["look"]), role("a", ["look"]));
  const grants = grantsOf(rules, {});
  expect(roles(grants)).toEqual({ allowed: ["a"], reported: [] });
  expect(grants.policies).toEqual(["look"]);
});

test("without rules nobody may do anything, and no issuer is trusted", () => {
  expect(grantsOf(noRules, { sub: "alice" })).toEqual(noGrants);
  expect(decideAccess(noGrants, { action: "Function:List", resource: "*" }).allowed).toBe(false);
  expect([...noRules.issuers, ...noRules.faults]).toEqual([]);
  expect(noRules.version).toBe("");
});
