import { iamSubject, type IamDocument } from "./iam-document.ts";

/** A document that its schema admits, from a file or from Kubernetes. */
export type PlacedIamDocument = IamDocument & {
  /** File and line, if it is from a file. */
  readonly place?: string | undefined;
};

/** What is wrong with one document or object; it is left out, or works in part, as the sentence says. */
export interface IamFault {
  /** Kind and name, e.g. `Role "deployers"`; the file when it could not be read so far. */
  readonly subject: string;
  /** File and line, or absent for objects of Kubernetes. */
  readonly place?: string | undefined;
  readonly sentence: string;
}

type OfKind<Kind extends IamDocument["kind"]> = Extract<PlacedIamDocument, { readonly kind: Kind }>;

/** The documents that count, sorted by name, and what is wrong with these and the others. */
export interface AcceptedIam {
  readonly issuers: readonly OfKind<"JwtIssuer">[];
  readonly policies: readonly OfKind<"Policy">[];
  readonly roles: readonly OfKind<"Role">[];
  readonly faults: readonly IamFault[];
}

/**
 * The documents that count, whatever the order they come in. What contradicts another document is left out with a
 * fault: the second of a name or of an `iss`. A Role that names a Policy that is not there, or that names no issuer
 * although there are several, stays, with a fault.
 */
export function acceptIamDocuments(documents: readonly PlacedIamDocument[]): AcceptedIam {
  const faults: IamFault[] = [];
  const issuers = new Map<string, OfKind<"JwtIssuer">>();
  const policies = new Map<string, OfKind<"Policy">>();
  const roles: OfKind<"Role">[] = [];
  const seen = new Set<string>();
  // By name and place, so that the same documents always give the same rules.
  for (const document of documents.toSorted(byKey)) {
    const fault = (sentence: string): void => void faults.push(faultOf(document, sentence));
    const key = `${document.kind}/${document.name}`;
    if (seen.has(key)) {
      fault("it is left out: another document has the same kind and name");
      continue;
    }
    seen.add(key);
    if (document.kind === "JwtIssuer") {
      const other = issuers.get(document.spec.iss);
      if (other === undefined) issuers.set(document.spec.iss, document);
      else fault(`it is left out: JwtIssuer "${other.name}" has the same iss`);
    } else if (document.kind === "Policy") policies.set(document.name, document);
    else roles.push(document);
  }
  for (const role of roles) faults.push(...roleFaults(role, policies, issuers.size));
  return { issuers: [...issuers.values()], policies: [...policies.values()], roles, faults };
}

function roleFaults(
  document: OfKind<"Role">,
  policies: ReadonlyMap<string, OfKind<"Policy">>,
  issuers: number,
): readonly IamFault[] {
  const missing = document.spec.policy.filter((name) => !policies.has(name));
  const found = missing.map((name) =>
    faultOf(document, `it names Policy "${name}", which does not exist, and grants the others only`),
  );
  if (issuers > 1 && !mentionedClaims(document.spec).has("iss")) {
    const sentence = `it names no jwt:iss although there are ${issuers} JwtIssuers: subjects of all of them match it`;
    found.push(faultOf(document, sentence));
  }
  return found;
}

/** Names of the claims that the principal and the condition of a Role mention, without prefix. */
function mentionedClaims({ principal, condition }: OfKind<"Role">["spec"]): ReadonlySet<string> {
  const keys = [
    ...Object.keys(principal ?? {}),
    ...Object.values(condition ?? {}).flatMap((wanted) => Object.keys(wanted)),
  ];
  return new Set(keys.map((key) => key.replace(/^jwt:/, "")));
}

function faultOf({ kind, name, place }: PlacedIamDocument, sentence: string): IamFault {
  return { subject: iamSubject(kind, name), place, sentence };
}

function byKey(one: PlacedIamDocument, other: PlacedIamDocument): number {
  const [first, second] = [one, other].map(({ kind, name, place = "" }) => `${kind}/${name}/${place}`) as [
    string,
    string,
  ];
  if (first === second) return 0;
  return first < second ? -1 : 1;
}
