import type { Claims } from "./claims.ts";
import { isPrincipal, meetsCondition } from "./conditions.ts";
import { candidateRoles } from "./role-index.ts";
import type { NamedRole, RuleSet } from "./rule-set.ts";

/** A statement that applies to a subject, and what gave it. */
export interface Grant {
  readonly role: string;
  readonly policy: string;
  readonly sid: string;
  readonly actions: readonly string[];
  readonly resources: readonly string[];
}

/** What the rules of one version allow one subject. */
export interface Grants {
  /** Statements in force. */
  readonly allowed: readonly Grant[];
  /** Statements of roles that only report. */
  readonly reported: readonly Grant[];
  /** Names of the policies that roles in force give, sorted. */
  readonly policies: readonly string[];
}

/** Nothing is allowed. */
export const noGrants: Grants = { allowed: [], reported: [], policies: [] };

/**
 * What `rules` allow the subject of `claims` (`subjectClaims`). With `among`, the policies of its token, only those
 * count: a right that came later needs a new token.
 */
export function grantsOf(rules: RuleSet, claims: Claims, among?: ReadonlySet<string>): Grants {
  const matching = candidateRoles(rules, claims).filter(
    (role) => isPrincipal(role.principal, claims) && meetsCondition(role.condition, claims),
  );
  const inForce = matching.filter(({ mode }) => mode !== "report");
  const reporting = matching.filter(({ mode }) => mode === "report");
  const counts = (policy: string): boolean => rules.policies.has(policy) && (among === undefined || among.has(policy));
  return {
    allowed: statementsOf(rules, claims, inForce, counts),
    reported: statementsOf(rules, claims, reporting, (policy) => rules.policies.has(policy)),
    policies: [...new Set(inForce.flatMap(({ policy }) => policy))].filter(counts).toSorted(),
  };
}

function statementsOf(
  rules: RuleSet,
  claims: Claims,
  roles: readonly NamedRole[],
  counts: (policy: string) => boolean,
): Grant[] {
  const given = new Map<string, string>();
  for (const role of roles) {
    for (const policy of role.policy) if (counts(policy) && !given.has(policy)) given.set(policy, role.name);
  }
  return [...given].flatMap(([policy, role]) =>
    (rules.policies.get(policy)?.statement ?? [])
      .filter(({ condition }) => meetsCondition(condition, claims))
      .map(({ sid, action, resource }) => ({ role, policy, sid, actions: action, resources: resource })),
  );
}
