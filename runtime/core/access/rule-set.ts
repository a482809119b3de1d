import type { IamFault } from "../../api/iam/accept-iam-documents.ts";
import { federatedIssuer, federatedPrefix, type Claims } from "./claims.ts";
import type { JwtIssuerSpec, PolicySpec, RoleSpec } from "../../api/resources/iam-resources.ts";

/** An issuer whose tokens may be exchanged. Durations are milliseconds. */
export interface TrustedIssuer {
  /** Name of the JwtIssuer. */
  readonly name: string;
  readonly iss: string;
  readonly audiences: readonly string[];
  /** Where its discovery document and keys are, if not at `iss`. */
  readonly internal: string | undefined;
  readonly tokenExpiry: number;
  /** Subjects that are refused, whatever roles give them. */
  readonly denied: readonly string[];
  /** Claims that name people, the first that has a text. */
  readonly nameClaims: readonly string[];
  /** How people sign in with it; absent: they cannot. */
  readonly login: JwtIssuerSpec["login"];
}

/** A Policy under its name. */
export interface NamedPolicy extends PolicySpec {
  readonly name: string;
}

/** A Role under its name. */
export interface NamedRole extends RoleSpec {
  readonly name: string;
}

/** What is wrong with one document or object. */
export type RuleFault = IamFault;

/** The rules in force: the last good ones, and what is wrong with the rest. */
export interface RuleSet {
  /** Another one for every change of the rules; equal versions have equal rules. */
  readonly version: string;
  /** By `iss`. */
  readonly issuers: ReadonlyMap<string, TrustedIssuer>;
  /** By name. */
  readonly policies: ReadonlyMap<string, NamedPolicy>;
  readonly roles: readonly NamedRole[];
  readonly faults: readonly RuleFault[];
}

/** Whether the JwtIssuer of a subject refuses it; `issued` are the claims of a token of this platform. */
export function isDenied({ issuers }: Pick<RuleSet, "issuers">, issued: Claims): boolean {
  const iss = issued[federatedIssuer];
  const denied = typeof iss === "string" ? issuers.get(iss)?.denied : undefined;
  return denied?.some((sub) => issued["sub"] === federatedPrefix + sub) === true;
}

/** No rules: nobody but the administrator may do anything. */
export const noRules: RuleSet = { version: "", issuers: new Map(), policies: new Map(), roles: [], faults: [] };
