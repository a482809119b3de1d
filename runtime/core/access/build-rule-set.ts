import { createHash } from "node:crypto";

import { parseDuration } from "../../api/duration.ts";
import { acceptIamDocuments, type PlacedIamDocument } from "../../api/iam/accept-iam-documents.ts";
import type { JwtIssuerSpec } from "../../api/resources/iam-resources.ts";
import { usualNameClaims } from "./display-name.ts";
import type { RuleFault, RuleSet, TrustedIssuer } from "./rule-set.ts";

const defaultTokenExpiry = 30 * 60_000;

/** A document that its schema admits, from a file or from Kubernetes. */
export type AccessDocument = PlacedIamDocument;

/** The rules of all documents that count, whatever their order; what is wrong with the others is added to `unreadable`. */
export function buildRuleSet(documents: readonly AccessDocument[], unreadable: readonly RuleFault[] = []): RuleSet {
  const accepted = acceptIamDocuments(documents);
  const faults = [...unreadable, ...accepted.faults];
  const issuers = new Map(accepted.issuers.map(({ name, spec }) => [spec.iss, trustedIssuer(name, spec)]));
  const policies = new Map(accepted.policies.map(({ name, spec }) => [name, { name, ...spec }]));
  const roles = accepted.roles.map(({ name, spec }) => ({ name, ...spec }));
  return { version: versionOf(issuers, policies, roles, faults), issuers, policies, roles, faults };
}

function trustedIssuer(name: string, spec: JwtIssuerSpec): TrustedIssuer {
  return {
    name,
    iss: spec.iss,
    audiences: spec.aud,
    internal: spec.issInternal,
    tokenExpiry: (spec.tokenExpiry === undefined ? undefined : parseDuration(spec.tokenExpiry)) ?? defaultTokenExpiry,
    denied: spec.deny ?? [],
    nameClaims: spec.nameClaim === undefined ? usualNameClaims : [spec.nameClaim],
    login: spec.login,
  };
}

function versionOf(...parts: readonly unknown[]): string {
  const text = JSON.stringify(parts, (_key, value: unknown) => (value instanceof Map ? [...value] : value));
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
