import { claimTexts, type Claims } from "./claims.ts";
import { claimOf } from "./conditions.ts";
import type { NamedRole, RuleSet } from "./rule-set.ts";

/** A claim that a role needs, and the texts of which one must be there. */
interface NeededClaim {
  readonly claim: string;
  readonly values: readonly string[];
}

interface RoleIndex {
  /** Positions of roles by claim and text. */
  readonly byClaim: ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>;
  /** Positions of roles that need no exact text. */
  readonly others: readonly number[];
}

/** Rules do not change once they are built, so an index is good as long as they are. */
const indexes = new WeakMap<RuleSet, RoleIndex>();

/**
 * The roles that may match `claims`, in their order: those that need an exact text which the claims do not have are left
 * out, so that thousands of roles cost little. The caller checks principal and condition of the rest.
 */
export function candidateRoles(rules: RuleSet, claims: Claims): readonly NamedRole[] {
  let index = indexes.get(rules);
  if (index === undefined) {
    index = buildIndex(rules.roles);
    indexes.set(rules, index);
  }
  // A role that needs one of several groups is found once for each that a token has.
  const positions = new Set(index.others);
  for (const [claim, byText] of index.byClaim) {
    for (const text of claimTexts(claims, claim).texts) {
      for (const position of byText.get(text) ?? []) positions.add(position);
    }
  }
  return [...positions].sort((one, other) => one - other).flatMap((position) => rules.roles[position] ?? []);
}

function buildIndex(roles: readonly NamedRole[]): RoleIndex {
  const byClaim = new Map<string, Map<string, number[]>>();
  const others: number[] = [];
  for (const [position, role] of roles.entries()) {
    const needed = neededClaim(role);
    if (needed === undefined) {
      others.push(position);
      continue;
    }
    const byText = byClaim.get(needed.claim) ?? new Map<string, number[]>();
    byClaim.set(needed.claim, byText);
    for (const value of new Set(needed.values)) {
      const listed = byText.get(value);
      if (listed === undefined) byText.set(value, [position]);
      else listed.push(position);
    }
  }
  return { byClaim, others };
}

/** Of several, the subject: it tells more apart than an issuer or a group. */
function neededClaim({ principal, condition }: NamedRole): NeededClaim | undefined {
  const exact = [
    principal,
    condition?.["StringEqual"],
    condition?.["StringEquals"],
    condition?.["ForAnyValue:StringEqual"],
  ];
  const needed = exact.flatMap((wanted) =>
    Object.entries(wanted ?? {}).map(([key, values]) => ({
      claim: claimOf(key),
      values: typeof values === "string" ? [values] : values,
    })),
  );
  return needed.find(({ claim }) => claim === "sub") ?? needed.find(({ claim }) => claim !== "iss") ?? needed[0];
}
