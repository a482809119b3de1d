import { claimTexts, subjectClaims, type Claims } from "./claims.ts";
import { decideAccess, reachesInto, type AccessDecision, type AccessRequest } from "./decide-access.ts";
import type { Grants } from "./grants.ts";

/** How a caller identified itself. */
export type CallerVia = "basic" | "token" | "session" | "open";

/** Who sent a request, and what they may do. */
export interface Principal {
  readonly via: CallerVia;
  /** `fed:` and the subject at its issuer; `admin` for the administrator. */
  readonly subject: string;
  /** The issuer that knows the subject; absent for the administrator. */
  readonly issuer: string | undefined;
  /** What people call it, where its issuer says; shown, and never decided by. */
  readonly name?: string | undefined;
  /** The subject's own claims; empty for the administrator. */
  readonly claims: Claims;
  /** What it may do; `everything` for the administrator. */
  readonly grants: Grants | "everything";
  /** End of its token, milliseconds since 1970; absent = none. */
  readonly expiresAt: number | undefined;
}

/** The administrator, and everybody where `basic_auth=false`. */
export function administrator(via: "basic" | "session" | "open"): Principal {
  return { via, subject: "admin", issuer: undefined, claims: {}, grants: "everything", expiresAt: undefined };
}

/** The holder of a verified API token of this platform. */
export function tokenHolder(issued: Claims, grants: Grants, name?: string): Principal {
  const claims = subjectClaims(issued);
  return {
    via: "token",
    subject: claimTexts(issued, "sub").texts[0] ?? "",
    issuer: claimTexts(claims, "iss").texts[0],
    name,
    claims,
    grants,
    expiresAt: typeof issued["exp"] === "number" ? issued["exp"] * 1_000 : undefined,
  };
}

/** Whether a principal may do something, and by what; the administrator may do everything. */
export function permitted({ grants }: Principal, request: AccessRequest): AccessDecision {
  if (grants === "everything") return { allowed: true, by: { role: "administrator", policy: "*", sid: "*" } };
  return decideAccess(grants, request);
}

/** Whether a principal may do `action` to anything of a namespace: a list of it may be shown, as far as it goes. */
export function permittedWithin({ grants }: Principal, action: string, namespace: string): boolean {
  return grants === "everything" || reachesInto(grants, action, namespace);
}
