import { federatedIssuer, type Claims } from "../../../core/access/claims.ts";
import { isDenied, type RuleSet, type TrustedIssuer } from "../../../core/access/rule-set.ts";
import { carriedClaims, keptClaims } from "../../../core/access/tokens/carried-claims.ts";
import { parseToken, type ParsedToken } from "../../../core/access/tokens/parse-token.ts";
import { NoKeySetError } from "./issuer-keys.ts";
import type { OwnKeys } from "./own-keys.ts";
import { TokenFault } from "./token-fault.ts";
import type { TrustedKeys } from "./trusted-keys.ts";
import { verifyToken, type TokenVerdict } from "./verify-token.ts";

/** For whom a token may be issued, and with what. */
export interface ExchangeSubject {
  /** What the new token carries: the subject as `fed:`, and its claims. */
  readonly claims: Claims;
  readonly issuer: TrustedIssuer;
  /** Policies that its own token has; absent: all that roles give count. */
  readonly among: ReadonlySet<string> | undefined;
  /** When its own token ends, and a new one must: whole seconds since 1970; absent: none must. */
  readonly endsAt: number | undefined;
}

export interface SubjectParts {
  readonly rules: () => RuleSet;
  readonly keys: OwnKeys;
  readonly issuers: TrustedKeys;
  readonly now: () => number;
}

/** Types of tokens of other issuers (header `typ`, RFC 7519 §5.1); most write none. */
const acceptedTypes: ReadonlySet<string | undefined> = new Set([undefined, "jwt", "at+jwt"]);

/**
 * Verifies a subject's token: of a trusted issuer, which workload tokens of this machine need, too, or an API token of
 * this platform.
 * @throws TokenFault
 */
export async function verifySubject(token: string, parts: SubjectParts): Promise<ExchangeSubject> {
  const subject = await verifiedSubject(token, parts);
  const { claims, issuer } = subject;
  if (isDenied(parts.rules(), claims)) {
    throw new TokenFault("invalid_request", `JwtIssuer ${issuer.name} denies its subject`, { subject: claims });
  }
  return subject;
}

async function verifiedSubject(token: string, parts: SubjectParts): Promise<ExchangeSubject> {
  const parsed = parseToken(token);
  if (parsed.kind === "malformed") throw invalid(parsed.why);
  const { iss } = parsed.claims;
  if (typeof iss !== "string") throw invalid("claim iss is no text");
  if (iss === parts.keys.issuer) return ownSubject(token, parts);
  const issuer = parts.rules().issuers.get(iss);
  if (issuer === undefined) throw invalid("no JwtIssuer has its iss");
  const { workloads } = parts.keys;
  if (iss === workloads?.issuer) {
    return subjectOf(await workloads.read(token, parsed.header, issuer.audiences, parts.now()), issuer);
  }
  return foreignSubject(token, parsed, issuer, parts);
}

async function foreignSubject(
  token: string,
  { header }: ParsedToken & { readonly kind: "token" },
  issuer: TrustedIssuer,
  { issuers, now }: SubjectParts,
): Promise<ExchangeSubject> {
  if (!acceptedTypes.has(header.typ?.toLowerCase().replace(/^application\//, ""))) {
    throw invalid("its typ is not that of an id token or access token");
  }
  const key = await issuers.find(issuer, header).catch((err: unknown) => {
    if (!(err instanceof NoKeySetError)) throw err;
    throw new TokenFault("temporarily_unavailable", `the keys of JwtIssuer ${issuer.name} cannot be read`, {
      cause: err,
    });
  });
  if (key === undefined) throw invalid("its issuer has no usable key of its kid and alg");
  const demands = { alg: header.alg, issuer: issuer.iss, audiences: issuer.audiences, now: now() };
  return subjectOf(await verifyToken(token, key, demands), issuer);
}

function subjectOf(verdict: TokenVerdict, issuer: TrustedIssuer): ExchangeSubject {
  if (verdict.kind === "invalid") throw invalid(verdict.why);
  // A logout token, which some issuers give no typ of its own, is of the same issuer and audience.
  if (Object.hasOwn(verdict.claims, "events")) throw invalid("it is about an event");
  return { claims: carriedClaims(verdict.claims), issuer, among: undefined, endsAt: undefined };
}

async function ownSubject(token: string, { keys, rules, now }: SubjectParts): Promise<ExchangeSubject> {
  const own = await keys.reader.read(token);
  if (own === undefined) throw invalid("it is no valid token of this platform");
  if (own.kind === "function") throw invalid("it is a function token");
  const endsAt = Math.floor(own.expiresAt / 1_000);
  // The tolerance is for clocks of others.
  if (endsAt <= Math.floor(now() / 1_000)) throw invalid("it has expired");
  const iss = own.claims[federatedIssuer];
  const issuer = typeof iss === "string" ? rules().issuers.get(iss) : undefined;
  if (issuer === undefined) throw invalid("its fed:iss is not trusted any more");
  return { claims: keptClaims(own.claims), issuer, among: own.policies, endsAt };
}

function invalid(why: string): TokenFault {
  return new TokenFault("invalid_request", `subject_token is not valid: ${why}`);
}
