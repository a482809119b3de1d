import { acceptIamDocuments, type IamFault, type PlacedIamDocument } from "../../api/iam/accept-iam-documents.ts";
import { iamSubject, type IamDocument } from "../../api/iam/iam-document.ts";

/** What is wrong with rules, or odd about them. */
export interface RuleFinding extends IamFault {
  /** Problems are faults that a gateway reports, too; a warning is about rules that are in force and hardly meant. */
  readonly level: "problem" | "warning";
}

type OfKind<Kind extends IamDocument["kind"]> = Extract<PlacedIamDocument, { readonly kind: Kind }>;
type Condition = NonNullable<OfKind<"Role">["spec"]["condition"]>;

/** A claim, and a text that it is compared with. */
interface Comparison {
  readonly operator: string;
  readonly claim: string;
  readonly text: string;
}

/** The findings on all documents together; `unreadable` are faults of those that no schema admits. */
export function judgeRules(
  documents: readonly PlacedIamDocument[],
  unreadable: readonly IamFault[],
): readonly RuleFinding[] {
  const { issuers, policies, roles, faults } = acceptIamDocuments(documents);
  const known = new Set(issuers.map(({ spec }) => spec.iss));
  const problems = [...unreadable, ...faults].map((fault): RuleFinding => ({ level: "problem", ...fault }));
  return [
    ...problems,
    ...policies.flatMap((policy) => [...ungranted(policy, roles), ...oddComparisons(policy)]),
    ...roles.flatMap((role) => [...emptyRole(role), ...oddComparisons(role), ...unknownIssuers(role, known)]),
  ];
}

/** A Policy that nobody has. */
function ungranted(policy: OfKind<"Policy">, roles: readonly OfKind<"Role">[]): readonly RuleFinding[] {
  const granting = roles.filter(({ spec }) => spec.policy.includes(policy.name));
  if (granting.some(({ spec }) => spec.mode !== "report")) return [];
  return granting.length === 0
    ? [warning(policy, "no Role gives it: nobody has its rights")]
    : [warning(policy, "only Roles in mode report give it: nobody has its rights")];
}

function emptyRole(role: OfKind<"Role">): readonly RuleFinding[] {
  const { principal = {}, condition = {} } = role.spec;
  if ([principal, ...Object.values(condition)].some((claims) => Object.keys(claims).length > 0)) return [];
  return [warning(role, "it has neither principal nor condition: every subject of a trusted issuer has it")];
}

/** Texts in which `*` does not mean what it seems to, or is missing where it would mean something. */
function oddComparisons(document: OfKind<"Role"> | OfKind<"Policy">): readonly RuleFinding[] {
  return comparisonsOf(document).flatMap(({ operator, claim, text }) => {
    const hasStar = text.includes("*");
    if (operator === "StringLike" && !hasStar)
      return [warning(document, `StringLike of ${claim} has no * in "${text}": it means StringEqual`)];
    if (operator === "StringLike" && /^\*+$/.test(text))
      return [warning(document, `StringLike of ${claim} is "${text}": every subject with this claim matches it`)];
    if (operator !== "StringLike" && hasStar)
      return [warning(document, `${operator} of ${claim} has * in "${text}": only StringLike has patterns`)];
    return [];
  });
}

/** Issuers by which nobody can match a Role. */
function unknownIssuers(role: OfKind<"Role">, known: ReadonlySet<string>): readonly RuleFinding[] {
  if (known.size === 0) return [];
  const exact = comparisonsOf(role).filter(({ operator, claim }) => claim === "jwt:iss" && operator !== "StringLike");
  return exact
    .filter(({ operator, text }) => !hasIssuer(known, operator, text))
    .map(({ text }) =>
      warning(role, `it names jwt:iss "${text}", which is the iss of no JwtIssuer: nobody matches that`),
    );
}

function hasIssuer(known: ReadonlySet<string>, operator: string, text: string): boolean {
  if (operator !== "StringEqualIgnoreCase") return known.has(text);
  return [...known].some((iss) => iss.toLowerCase() === text.toLowerCase());
}

function comparisonsOf(document: OfKind<"Role"> | OfKind<"Policy">): readonly Comparison[] {
  if (document.kind === "Policy")
    return document.spec.statement.flatMap(({ condition = {} }) => comparisonsIn(condition));
  const { principal = {}, condition = {} } = document.spec;
  return [...comparisonsIn({ principal: copyOf(principal) }), ...comparisonsIn(condition)];
}

function comparisonsIn(condition: Condition): readonly Comparison[] {
  return Object.entries(condition).flatMap(([operator, claims]) =>
    Object.entries(claims).flatMap(([claim, texts]) => [texts].flat().map((text) => ({ operator, claim, text }))),
  );
}

function copyOf(principal: Readonly<Record<string, readonly string[]>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(principal).map(([claim, texts]) => [claim, [...texts]]));
}

function warning({ kind, name, place }: PlacedIamDocument, sentence: string): RuleFinding {
  return { level: "warning", subject: iamSubject(kind, name), place, sentence };
}
