import type { conditionOperators, PolicyCondition } from "../../api/resources/iam-resources.ts";
import type { Static } from "typebox";

import { claimTexts, type Claims } from "./claims.ts";
import { matchesWildcard } from "./wildcard.ts";

/** Maps an operator to `jwt:<claim>`, and that to a text or a list of texts. */
export type RightCondition = Static<typeof PolicyCondition>;

type Operator = (typeof conditionOperators)[number];
type Comparison = (wanted: string, found: string) => boolean;

const claimPrefix = "jwt:";

const equal: Comparison = (wanted, found) => wanted === found;
const comparisons: Readonly<Record<Operator, { readonly compare: Comparison; readonly ofList: boolean }>> = {
  StringEqual: { compare: equal, ofList: false },
  StringEquals: { compare: equal, ofList: false },
  StringEqualIgnoreCase: {
    compare: (wanted, found) => wanted.toLowerCase() === found.toLowerCase(),
    ofList: false,
  },
  StringLike: { compare: matchesWildcard, ofList: false },
  "ForAnyValue:StringEqual": { compare: equal, ofList: true },
};

/** Whether claims fulfil a condition: all operators and claims must match, each with one of its values. */
export function meetsCondition(condition: RightCondition | undefined, claims: Claims): boolean {
  return Object.entries(condition ?? {}).every(([operator, wanted]) => {
    // The schema admits no other operator; one that slips through must never match.
    const rule = Object.hasOwn(comparisons, operator) ? comparisons[operator as Operator] : undefined;
    if (rule === undefined) return false;
    return Object.entries(wanted).every(([key, values]) => {
      const listed = typeof values === "string" ? [values] : values;
      return hasClaim(claims, key, listed, rule.compare, rule.ofList);
    });
  });
}

/** Whether claims fulfil a principal: each claim that it names must equal one of its values. */
export function isPrincipal(
  principal: Readonly<Record<string, readonly string[]>> | undefined,
  claims: Claims,
): boolean {
  return Object.entries(principal ?? {}).every(([key, values]) => hasClaim(claims, key, values, equal, false));
}

function hasClaim(
  claims: Claims,
  key: string,
  wanted: readonly string[],
  compare: Comparison,
  ofList: boolean,
): boolean {
  const { texts, members } = claimTexts(claims, claimOf(key));
  // A list of one is its member, as issuers write `aud` either way. Members without a text count, too.
  if (!ofList && members !== 1) return false;
  return texts.some((found) => wanted.some((value) => compare(value, found)));
}

/** Name of the claim in a key `jwt:<claim>`. */
export function claimOf(key: string): string {
  return key.startsWith(claimPrefix) ? key.slice(claimPrefix.length) : key;
}
