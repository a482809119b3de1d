import { expect, test } from "vitest";

import type { Grants } from "../../../../../runtime/core/access/grants.ts";
import {
  callablePermissions,
  functionScopeIn,
  parseAudience,
  reachesAudience,
  withinScope,
} from "../../../../../runtime/core/access/tokens/function-scope.ts";
import { namespaceRules } from "../../../../support/access-documents.ts";

const grants = (...given: [actions: string[], resources: string[]][]): Grants => ({
  allowed: given.map(([actions, resources]) => ({ role: "r", policy: "p", sid: "s", actions, resources })),
  reported: [{ role: "r", policy: "q", sid: "s", actions: ["*"], resources: ["secret:*"] }],
  policies: ["p"],
});

test("permissions are the resources on which calling is allowed", () => {
  expect(
    callablePermissions(
      grants(
        [["Function:Invoke"], ["dev:b", "dev:a"]],
        [["Function:*"], ["dev:a", "x-*:y"]],
        [["Function:List"], ["prod:*"]],
        [["Function:List", "Function:Invoke"], ["z:*"]],
      ),
    ),
  ).toEqual(["dev:a", "dev:b", "x-*:y", "z:*"]);
  expect(callablePermissions(grants([["*"], ["*", "dev:a"]]))).toEqual(["*"]);
  expect(callablePermissions(grants([["Function:Invok", "Queue:*"], ["*"]]))).toEqual([]);
});

test.each([
  ["dev:env", "dev:env"],
  ["dev:*", "dev:*"],
  ["openfaas-fn:env", "functions:env"],
  ["openfaas-fn:*", "functions:*"],
  ["new:env", "new:env"],
  ["dev", undefined],
  ["*", undefined],
  ["*:env", undefined],
  ["dev:", undefined],
  [":env", undefined],
  ["dev:e*", undefined],
  ["dev:a:b", undefined],
  ["Dev:env", undefined],
  ["dev:env ", undefined],
  ["", undefined],
])("audience %j is %j", (text, audience) => {
  expect(parseAudience(text, namespaceRules())).toBe(audience);
});

test("a namespace with the name of an alias is itself", () => {
  expect(parseAudience("openfaas-fn:env", namespaceRules("openfaas-fn"))).toBe("openfaas-fn:env");
});

test.each([
  ["dev:env", "dev:env", true],
  ["dev:*", "dev:env", true],
  ["*", "dev:*", true],
  ["dev:env", "dev:*", true],
  ["d*:env", "dev:*", true],
  ["dev:env", "dev:env2", false],
  ["prod:env", "dev:*", false],
  ["ev:env", "dev:*", false],
])("permission %s reaches audience %s: %s", (permission, audience, reaches) => {
  expect(reachesAudience(permission, audience)).toBe(reaches);
});

test.each([
  [["dev:env"], [], "dev:env", true],
  [["dev:env"], [], "dev:env2", false],
  [["dev:*"], ["dev:env"], "dev:env", true],
  [["dev:*"], ["dev:env"], "dev:other", false],
  [["dev:env"], ["dev:*"], "dev:other", false],
  [["*"], ["dev:*"], "dev:any", true],
  [["*"], ["dev:*"], "dev2:any", false],
  [[], [], "dev:env", false],
])("a token for %j and %j calls %s: %s", (permissions, audience, resource, allowed) => {
  expect(withinScope({ permissions, audience }, resource)).toBe(allowed);
});

test.each([
  [undefined],
  [null],
  [{}],
  [{ permissions: ["a:b"] }],
  [{ permissions: "*", audience: [] }],
  [{ permissions: [1], audience: [] }],
  [{ permissions: ["a:b", 1], audience: [] }],
  [{ permissions: ["a:b"], audience: [null] }],
  ["a:b"],
])("%j is no scope", (scope) => {
  expect(functionScopeIn({ function: scope })).toBeUndefined();
});

test.each([
  [[], []],
  [["*"], ["dev:pay"]],
  [["dev:*", "prod:pay"], []],
])("permissions %j and audience %j are a scope", (permissions, audience) => {
  const scope = functionScopeIn({ function: { permissions, audience, other: 1 } });
  expect(scope).toEqual({ permissions, audience });
});
