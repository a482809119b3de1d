import type { JwtIssuerSpec, PolicySpec, RoleSpec } from "../../runtime/api/resources/iam-resources.ts";
import { buildRuleSet, type AccessDocument } from "../../runtime/core/access/build-rule-set.ts";
import type { RuleSet } from "../../runtime/core/access/rule-set.ts";
import type { NamespaceRules } from "../../runtime/core/namespaces/namespace-rules.ts";

export function jwtIssuer(name: string, spec: JwtIssuerSpec): AccessDocument {
  return { kind: "JwtIssuer", name, spec };
}

/** A policy of one statement that allows the actions on the resources. */
export function policy(name: string, action: readonly string[], resource: readonly string[]): AccessDocument {
  const statement = [{ sid: name, effect: "Allow", action: [...action], resource: [...resource] }];
  return { kind: "Policy", name, spec: { statement } as PolicySpec };
}

export function role(name: string, policies: readonly string[], spec: Partial<RoleSpec> = {}): AccessDocument {
  return { kind: "Role", name, spec: { policy: [...policies], ...spec } };
}

export function rulesOf(...documents: readonly AccessDocument[]): RuleSet {
  return buildRuleSet(documents);
}

/** The namespaces of an enterprise platform: `functions`, and those given. */
export function namespaceRules(...existing: readonly string[]): NamespaceRules {
  return {
    defaultNamespace: "functions",
    aliases: ["openfaas-fn"],
    platformNamespace: "weir",
    reserved: [],
    edition: "enterprise",
    exists: (name) => existing.includes(name),
  };
}
