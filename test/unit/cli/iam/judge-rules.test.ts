import { expect, test } from "vitest";

import type { PlacedIamDocument } from "../../../../runtime/api/iam/accept-iam-documents.ts";
import type { RoleSpec } from "../../../../runtime/api/resources/iam-resources.ts";
import { judgeRules } from "../../../../runtime/cli/iam/judge-rules.ts";
import { jwtIssuer, policy } from "../../../support/access-documents.ts";

const first = jwtIssuer("first", { iss: "https://a.example", aud: ["weir"] });
const second = jwtIssuer("second", { iss: "https://b.example", aud: ["weir"] });
const deploy = policy("deploy", ["Function:*"], ["dev:*"]);
const role = (name: string, spec: Partial<RoleSpec> = {}): PlacedIamDocument => ({
  kind: "Role",
  name,
  place: "roles.yaml:1",
  spec: { policy: ["deploy"], principal: { "jwt:sub": ["alice"] }, ...spec },
});
const judged = (...documents: readonly PlacedIamDocument[]): string[] =>
  judgeRules(documents, []).map(({ level, subject, sentence }) => `${level}: ${subject}: ${sentence}`);

test("rules that belong together have no findings", () => {
  expect(judged(first, deploy, role("deployers"))).toEqual([]);
  expect(
    judged(
      first,
      second,
      deploy,
      role("deployers", { condition: { StringEqual: { "jwt:iss": "https://b.example" } } }),
    ),
  ).toEqual([]);
});

test.each<readonly [string, readonly PlacedIamDocument[], string]>([
  [
    "a Policy that no Role gives",
    [first, deploy, policy("unused", ["*"], ["*"]), role("deployers")],
    'warning: Policy "unused": no Role gives it: nobody has its rights',
  ],
  [
    "a Policy of Roles that only report",
    [first, deploy, role("trial", { mode: "report" })],
    'warning: Policy "deploy": only Roles in mode report give it: nobody has its rights',
  ],
  [
    "a Role that gives a Policy which is not there",
    [first, deploy, role("deployers", { policy: ["deploy", "gone"] })],
    'problem: Role "deployers": it names Policy "gone", which does not exist, and grants the others only',
  ],
  [
    "a Role without jwt:iss where there are several issuers",
    [first, second, deploy, role("deployers")],
    'problem: Role "deployers": it names no jwt:iss although there are 2 JwtIssuers: subjects of all of them match it',
  ],
  [
    "a Role for everybody",
    [first, deploy, role("all", { principal: {}, condition: { StringEqual: {} } })],
    'warning: Role "all": it has neither principal nor condition: every subject of a trusted issuer has it',
  ],
  [
    "a pattern in a principal",
    [first, deploy, role("deployers", { principal: { "jwt:sub": ["repo:acme/*"] } })],
    'warning: Role "deployers": principal of jwt:sub has * in "repo:acme/*": only StringLike has patterns',
  ],
  [
    "a pattern that is none",
    [first, deploy, role("deployers", { condition: { StringLike: { "jwt:sub": "repo:acme/shop" } } })],
    'warning: Role "deployers": StringLike of jwt:sub has no * in "repo:acme/shop": it means StringEqual',
  ],
  [
    "a pattern that everything matches",
    [first, deploy, role("deployers", { condition: { StringLike: { "jwt:sub": ["*"] } } })],
    'warning: Role "deployers": StringLike of jwt:sub is "*": every subject with this claim matches it',
  ],
  [
    "an issuer that is not trusted",
    [first, deploy, role("deployers", { principal: { "jwt:iss": ["https://a.example/"] } })],
    'warning: Role "deployers": it names jwt:iss "https://a.example/", which is the iss of no JwtIssuer: nobody matches that',
  ],
  [
    "a second document of a name",
    [first, deploy, { ...deploy, place: "z.yaml:1" }, role("deployers")],
    'problem: Policy "deploy": it is left out: another document has the same kind and name',
  ],
])("%s is found", (_, documents, finding) => {
  expect(judged(...documents)).toEqual([finding]);
});

test("conditions of statements are judged, too", () => {
  const [statement] = deploy.kind === "Policy" ? deploy.spec.statement : [];
  if (statement === undefined) throw new Error("the Policy has no statement");
  const odd: PlacedIamDocument = {
    kind: "Policy",
    name: "deploy",
    spec: { statement: [{ ...statement, condition: { "ForAnyValue:StringEqual": { "jwt:groups": ["dev-*"] } } }] },
  };
  expect(judged(first, odd, role("deployers"))).toEqual([
    'warning: Policy "deploy": ForAnyValue:StringEqual of jwt:groups has * in "dev-*": only StringLike has patterns',
  ]);
});
