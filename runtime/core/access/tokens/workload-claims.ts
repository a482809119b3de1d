import type { FunctionRef } from "../../functions/function-ref.ts";
import type { Claims } from "../claims.ts";

/** Lifetime of a workload token, seconds. */
export const workloadTokenLifetime = 3_600;

/** Header member `typ` of the workload tokens of one machine. */
export const workloadTokenType = "weir-workload+jwt";

/** Audience of workload tokens, where they are exchanged; `issuer` is that of the platform's own tokens. */
export function workloadAudience(issuer: string): string {
  return `${withoutSlash(issuer)}/oauth/token`;
}

/** Issuer of the workload tokens of one machine. */
export function workloadIssuer(issuer: string): string {
  return `${withoutSlash(issuer)}/workload`;
}

/** The claims of the workload token that a function of one machine gets at `now`, milliseconds since 1970. */
export function workloadClaims({ namespace, name }: FunctionRef, issuer: string, now: number): Claims {
  const issuedAt = Math.floor(now / 1_000);
  return {
    iss: workloadIssuer(issuer),
    aud: workloadAudience(issuer),
    sub: `function:${namespace}:${name}`,
    iat: issuedAt,
    exp: issuedAt + workloadTokenLifetime,
  };
}

/** When a token that was issued at `issuedAt` is replaced, both in milliseconds: it is good for as long again. */
export function workloadRenewal(issuedAt: number): number {
  return issuedAt + (workloadTokenLifetime / 2) * 1_000;
}

function withoutSlash(issuer: string): string {
  return issuer.replace(/\/+$/, "");
}
