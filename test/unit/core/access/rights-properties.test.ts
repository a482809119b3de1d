import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { PolicySpec, RoleSpec } from "../../../../runtime/api/resources/iam-resources.ts";
import { buildRuleSet, type AccessDocument } from "../../../../runtime/core/access/build-rule-set.ts";
import type { Claims } from "../../../../runtime/core/access/claims.ts";
import { isPrincipal, meetsCondition, type RightCondition } from "../../../../runtime/core/access/conditions.ts";
import { decideAccess, type AccessRequest } from "../../../../runtime/core/access/decide-access.ts";
import { grantsOf } from "../../../../runtime/core/access/grants.ts";

/** Few names and values, so that rules meet subjects and requests often. */
const actions = ["Function:List", "Function:Delete", "Secret:List", "Function:*", "*"] as const;
const resources = ["*", "dev:*", "d*:pay", "dev:pay", "prod:p*y"] as const;
const claimNames = ["team", "sub", "groups", "toString"] as const;
const values = ["core", "Core", "a*", "*", "a", ""] as const;

const claimKey = fc.constantFrom(...claimNames.map((claim) => `jwt:${claim}`));
const value = fc.constantFrom(...values);
const condition: fc.Arbitrary<RightCondition> = fc.dictionary(
  fc.constantFrom("StringEqual", "StringEquals", "StringEqualIgnoreCase", "StringLike", "ForAnyValue:StringEqual"),
  fc.dictionary(claimKey, fc.oneof(value, fc.array(value, { maxLength: 2 })), { maxKeys: 2 }),
  { maxKeys: 1 },
);
const statement: fc.Arbitrary<PolicySpec["statement"][number]> = fc.record({
  sid: fc.constantFrom("s", "t"),
  effect: fc.constant("Allow" as const),
  action: fc.uniqueArray(fc.constantFrom(...actions), { minLength: 1, maxLength: 2 }),
  resource: fc.uniqueArray(fc.constantFrom(...resources), { minLength: 1, maxLength: 2 }),
  condition,
});
const policyNames = ["p", "q", "r"] as const;
const policy: fc.Arbitrary<AccessDocument> = fc
  .tuple(fc.constantFrom(...policyNames), fc.array(statement, { minLength: 1, maxLength: 2 }))
  .map(([name, statements]) => ({ kind: "Policy", name, spec: { statement: statements } }));
const roleSpec: fc.Arbitrary<RoleSpec> = fc.record(
  {
    policy: fc.uniqueArray(fc.constantFrom(...policyNames), { minLength: 1, maxLength: 2 }),
    principal: fc.dictionary(claimKey, fc.array(value, { maxLength: 2 }), { maxKeys: 1 }),
    condition,
    mode: fc.constantFrom("enforce" as const, "enforce" as const, "report" as const),
  },
  { requiredKeys: ["policy"] },
);
const role: fc.Arbitrary<AccessDocument> = fc
  .tuple(fc.constantFrom("a", "b", "c", "d"), roleSpec)
  .map(([name, spec]) => ({ kind: "Role", name, spec }));
const issuer: fc.Arbitrary<AccessDocument> = fc
  .tuple(fc.constantFrom("i", "j"), fc.constantFrom("https://a.example", "https://b.example"))
  .map(([name, iss]) => ({ kind: "JwtIssuer", name, spec: { iss, aud: ["weir"] } }));
const keyOf = ({ kind, name }: AccessDocument): string => `${kind}/${name}`;
const documents = fc.uniqueArray(fc.oneof(policy, policy, role, role, issuer), { selector: keyOf, maxLength: 8 });
const claims: fc.Arbitrary<Claims> = fc.dictionary(
  fc.constantFrom(...claimNames),
  fc.oneof(value, fc.array(value, { maxLength: 2 }), fc.constant(1), fc.constant(null)),
);
const requests: readonly AccessRequest[] = ["Function:List", "Function:Delete", "Secret:List", "System:Info"].flatMap(
  (action) => ["dev:pay", "prod:pay", "dev:*", "*"].map((resource) => ({ action, resource })),
);

function allowedBy(rules: readonly AccessDocument[], subject: Claims): string[] {
  const grants = grantsOf(buildRuleSet(rules), subject);
  return requests
    .filter((request) => decideAccess(grants, request).allowed)
    .map(({ action, resource }) => `${action} ${resource}`);
}

describe("rules", () => {
  test("of the same documents are the same, whatever the order", () => {
    const shuffled = documents.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, claims, ([one, other], subject) => {
        const [first, second] = [buildRuleSet(one), buildRuleSet(other)];
        expect(second).toEqual(first);
        expect(second.version).toBe(first.version);
        expect(grantsOf(second, subject)).toEqual(grantsOf(first, subject));
      }),
      { numRuns: 500 },
    );
  });

  test("allow no less with one more document", () => {
    fc.assert(
      fc.property(documents, fc.oneof(policy, role, issuer), claims, (all, added, subject) => {
        fc.pre(all.every((each) => keyOf(each) !== keyOf(added)));
        expect(allowedBy([...all, added], subject)).toEqual(expect.arrayContaining(allowedBy(all, subject)));
      }),
      { numRuns: 1_000 },
    );
  });

  test("allow no less with one more statement", () => {
    fc.assert(
      fc.property(documents, statement, fc.nat(), fc.boolean(), claims, (all, added, which, isFirst, subject) => {
        const policies = all.flatMap((each) => (each.kind === "Policy" ? [each] : []));
        const grown = policies[which % Math.max(policies.length, 1)];
        fc.pre(grown !== undefined);
        const { statement: before } = grown.spec;
        const after = isFirst ? [added, ...before] : [...before, added];
        const more = all.map((each) => (each === grown ? { ...grown, spec: { statement: after } } : each));
        expect(allowedBy(more, subject)).toEqual(expect.arrayContaining(allowedBy(all, subject)));
      }),
      { numRuns: 1_000 },
    );
  });

  test("allow nothing to anyone without a Role that is in force", () => {
    fc.assert(
      fc.property(documents, claims, (all, subject) => {
        const reporting = all.map((each) =>
          each.kind === "Role" ? { ...each, spec: { ...each.spec, mode: "report" as const } } : each,
        );
        expect(allowedBy(reporting, subject)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test("allow with a list of policies what these allow, and no more than without it", () => {
    fc.assert(
      fc.property(documents, claims, fc.subarray([...policyNames]), (all, subject, listed) => {
        const rules = buildRuleSet(all);
        const [narrow, wide] = [grantsOf(rules, subject, new Set(listed)), grantsOf(rules, subject)];
        expect(narrow.policies).toEqual(wide.policies.filter((each) => (listed as readonly string[]).includes(each)));
        expect(narrow.allowed.every((grant) => (listed as readonly string[]).includes(grant.policy))).toBe(true);
        expect(wide.allowed).toEqual(expect.arrayContaining([...narrow.allowed]));
      }),
      { numRuns: 500 },
    );
  });
});

describe("a claim is never a pattern", () => {
  const text = fc.oneof(value, fc.string({ maxLength: 4 }));

  test("in comparisons for equality it matches the same text only", () => {
    fc.assert(
      fc.property(text, text, (wanted, found) => {
        const isSame = wanted === found;
        const subject = { team: found };
        expect(meetsCondition({ StringEqual: { "jwt:team": wanted } }, subject)).toBe(isSame);
        expect(meetsCondition({ StringEquals: { "jwt:team": [wanted] } }, subject)).toBe(isSame);
        expect(meetsCondition({ "ForAnyValue:StringEqual": { "jwt:team": wanted } }, { team: [found] })).toBe(isSame);
        expect(isPrincipal({ "jwt:team": [wanted] }, subject)).toBe(isSame);
        const isSameWord = wanted.toLowerCase() === found.toLowerCase();
        expect(meetsCondition({ StringEqualIgnoreCase: { "jwt:team": wanted } }, subject)).toBe(isSameWord);
      }),
      { numRuns: 1_000 },
    );
  });

  test("in StringLike only the rule's * stands for more", () => {
    fc.assert(
      fc.property(text, text, (wanted, found) => {
        fc.pre(!wanted.includes("*"));
        expect(meetsCondition({ StringLike: { "jwt:team": wanted } }, { team: found })).toBe(wanted === found);
      }),
      { numRuns: 1_000 },
    );
  });
});

test("claims that are not the token's own never match", () => {
  for (const claim of ["toString", "constructor", "__proto__", "hasOwnProperty"]) {
    expect(meetsCondition({ StringLike: { [`jwt:${claim}`]: "*" } }, {})).toBe(false);
  }
});
