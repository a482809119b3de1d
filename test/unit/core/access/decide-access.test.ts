import { describe, expect, test } from "vitest";

import type { PolicySpec, RoleSpec } from "../../../../runtime/api/resources/iam-resources.ts";
import { buildRuleSet, type AccessDocument } from "../../../../runtime/core/access/build-rule-set.ts";
import {
  coversResource,
  decideAccess,
  namesAction,
  reachesInto,
} from "../../../../runtime/core/access/decide-access.ts";
import { grantsOf } from "../../../../runtime/core/access/grants.ts";

const statement = (action: string[], resource: string[], sid = "s"): PolicySpec["statement"][number] => ({
  sid,
  effect: "Allow",
  action,
  resource,
});
const policy = (name: string, ...statements: PolicySpec["statement"]): AccessDocument => ({
  kind: "Policy",
  name,
  spec: { statement: statements },
});
const role = (name: string, spec: RoleSpec): AccessDocument => ({ kind: "Role", name, spec });

describe("an action", () => {
  test.each([
    ["*", "Function:Delete", true],
    ["Function:*", "Function:Delete", true],
    ["Function:Delete", "Function:Delete", true],
    ["Function:*", "FunctionX:Delete", false],
    ["Function:Del", "Function:Delete", false],
    ["function:delete", "Function:Delete", false],
    ["Secret:*", "Function:Delete", false],
  ])("%s names %s: %s", (listed, action, expected) => {
    expect(namesAction(listed, action)).toBe(expected);
  });
});

describe("a resource", () => {
  test.each([
    ["*", "dev:pay", true],
    ["dev:*", "dev:pay", true],
    ["dev:pay", "dev:pay", true],
    ["d*:p*y", "dev:pay", true],
    ["dev:pay", "dev:pays", false],
    ["dev:pay", "xdev:pay", false],
    ["*:pay", "dev:pay", true],
    // No `*` reaches across the colon, nor does a namespace alone cover anything.
    ["d*", "dev:pay", false],
    ["dev", "dev:pay", false],
    ["dev:*", "*", false],
    ["dev:*", "dev:*", true],
    ["dev:pay", "dev:*", false],
    ["dev:*", "dev", false],
    ["*:*", "dev", false],
    // Only the first colon parts: what is behind is a name that no function has.
    ["*:pay", "dev:x:pay", false],
  ])("%s covers %s: %s", (pattern, resource, expected) => {
    expect(coversResource(pattern, resource)).toBe(expected);
  });
});

describe("grants", () => {
  const rules = buildRuleSet([
    policy("deploy", statement(["Function:Create"], ["dev:*"])),
    policy("look", statement(["Function:List"], ["*"])),
    role("team", { policy: ["deploy"], principal: { "jwt:sub": ["alice"] } }),
    role("all", { policy: ["look"] }),
    role("tried", { policy: ["deploy"], mode: "report" }),
  ]);

  test("a role gives its policies to whom it matches, one without principal to all", () => {
    expect(grantsOf(rules, { sub: "alice" }).policies).toEqual(["deploy", "look"]);
    expect(grantsOf(rules, { sub: "bob" }).policies).toEqual(["look"]);
  });

  test("only policies of the token count, and only while a role gives them", () => {
    expect(grantsOf(rules, { sub: "alice" }, new Set(["deploy"])).policies).toEqual(["deploy"]);
    expect(grantsOf(rules, { sub: "bob" }, new Set(["deploy"])).policies).toEqual([]);
  });

  test("what allows is named; what is refused says what is missing, and what a reporting role would allow", () => {
    const request = { action: "Function:Create", resource: "dev:pay" };
    expect(decideAccess(grantsOf(rules, { sub: "alice" }), request)).toEqual({
      allowed: true,
      by: { role: "team", policy: "deploy", sid: "s" },
    });
    expect(decideAccess(grantsOf(rules, { sub: "bob" }), request)).toEqual({
      allowed: false,
      missing: request,
      reported: { role: "tried", policy: "deploy", sid: "s" },
    });
  });

  test("a namespace is reached by any resource in it", () => {
    const some = grantsOf(
      buildRuleSet([policy("p", statement(["Function:List"], ["dev:pay"])), role("r", { policy: ["p"] })]),
      {},
    );
    expect(reachesInto(some, "Function:List", "dev")).toBe(true);
    expect(reachesInto(some, "Function:List", "prod")).toBe(false);
    expect(reachesInto(some, "Function:Get", "dev")).toBe(false);
    const all = grantsOf(
      buildRuleSet([policy("p", statement(["Function:List"], ["*"])), role("r", { policy: ["p"] })]),
      {},
    );
    expect(reachesInto(all, "Function:List", "dev")).toBe(true);
  });

  test("one action and one resource of a statement are enough, one without the other is not", () => {
    const actions = ["Secret:List", "Function:List", "Function:Get"];
    const many = grantsOf(
      buildRuleSet([
        policy("p", statement(actions, ["dev:pay", "prod:*"]), statement(["Function:Delete"], ["test:*"])),
        role("r", { policy: ["p"] }),
      ]),
      {},
    );
    for (const action of actions)
      for (const resource of ["dev:pay", "prod:anything"])
        expect(decideAccess(many, { action, resource }), `${action} ${resource}`).toMatchObject({ allowed: true });
    const isAllowed = (action: string, resource: string): boolean => decideAccess(many, { action, resource }).allowed;
    expect(isAllowed("Function:Get", "dev:other")).toBe(false);
    expect(isAllowed("Function:Get", "test:pay")).toBe(false);
    expect(isAllowed("Function:Delete", "dev:pay")).toBe(false);
    expect(isAllowed("Function:Delete", "test:pay")).toBe(true);
    expect(["dev", "prod", "test"].map((one) => reachesInto(many, "Function:Get", one))).toEqual([true, true, false]);
    expect(["dev", "prod", "test"].map((one) => reachesInto(many, "Function:Delete", one))).toEqual([
      false,
      false,
      true,
    ]);
  });
});

describe("a set of rules", () => {
  test("leaves out the second document of a name and the second issuer of an iss, with a sentence", () => {
    const issuer = (name: string): AccessDocument => ({
      kind: "JwtIssuer",
      name,
      spec: { iss: "https://issuer.example", aud: ["weir"] },
    });
    const rules = buildRuleSet([
      issuer("a"),
      issuer("b"),
      policy("p", statement(["*"], ["*"])),
      policy("p", statement(["*"], ["*"])),
    ]);
    expect([...rules.issuers.values()].map(({ name }) => name)).toEqual(["a"]);
    expect(rules.faults.map(({ subject, sentence }) => `${subject}: ${sentence}`)).toEqual([
      'JwtIssuer "b": it is left out: JwtIssuer "a" has the same iss',
      'Policy "p": it is left out: another document has the same kind and name',
    ]);
  });

  test("a role that names a missing policy gives the others, and says so", () => {
    const rules = buildRuleSet([policy("p", statement(["*"], ["*"])), role("r", { policy: ["p", "gone"] })]);
    expect(grantsOf(rules, {}).policies).toEqual(["p"]);
    expect(rules.faults).toEqual([
      { subject: 'Role "r"', sentence: 'it names Policy "gone", which does not exist, and grants the others only' },
    ]);
  });
});
