import { nearestName } from "../closest-name.ts";
import type { JwtIssuerSpec, PolicySpec, RoleSpec } from "../resources/iam-resources.ts";
import { iamKinds, iamValidator, type IamKind } from "./iam-schemas.ts";
import { iamFinding, quotedText, type IamFinding } from "./iam-sentence.ts";

/** A manifest of identity and access that its schema admits. */
export type IamDocument =
  | { readonly kind: "JwtIssuer"; readonly name: string; readonly spec: JwtIssuerSpec }
  | { readonly kind: "Policy"; readonly name: string; readonly spec: PolicySpec }
  | { readonly kind: "Role"; readonly name: string; readonly spec: RoleSpec };

/** A manifest, or what is wrong with it. */
export type CheckedManifest =
  | { readonly document: IamDocument; readonly finding?: undefined }
  | {
      readonly document?: undefined;
      /** Kind and name, if they could be read. */
      readonly subject: string | undefined;
      readonly finding: IamFinding;
    };

/** Kind and name, as faults name a document: `Role "deployers"`. */
export function iamSubject(kind: string, name: string): string {
  return `${kind} "${name}"`;
}

/** Judges a manifest by the schema of its kind, with everything that the API server of Kubernetes checks, too. */
export function checkIamManifest(value: unknown): CheckedManifest {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return refused(undefined, [], "it is no manifest: expected a mapping with apiVersion, kind, metadata and spec");
  const { kind, metadata } = value as {
    readonly kind?: unknown;
    readonly metadata?: { readonly name?: unknown } | null;
  };
  if (kind === undefined || kind === null) return refused(undefined, [], 'field "kind" is required');
  if (!isIamKind(kind)) {
    const given = typeof kind === "string" ? quotedText(kind) : "no text";
    const near = typeof kind === "string" ? nearestName(kind, Object.keys(iamKinds)) : undefined;
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    return refused(undefined, ["kind"], `field "kind" is ${given}: expected JwtIssuer, Policy or Role${hint}`);
  }
  const name = metadata?.name;
  const validate = iamValidator(kind);
  if (!validate(value)) {
    const subject = typeof name === "string" ? iamSubject(kind, name.slice(0, 253)) : undefined;
    return { subject, finding: iamFinding(validate.errors ?? []) };
  }
  const { spec } = value as { readonly spec: never };
  return { document: { kind, name: String(name), spec } };
}

function isIamKind(kind: unknown): kind is IamKind {
  return typeof kind === "string" && Object.hasOwn(iamKinds, kind);
}

function refused(subject: string | undefined, path: readonly string[], sentence: string): CheckedManifest {
  return { subject, finding: { path, isKey: false, sentence } };
}
