import type { Static } from "typebox";

import { accessTokenType, type TokenReply } from "../../../api/schemas/iam/token.ts";
import { subjectClaims } from "../../../core/access/claims.ts";
import { grantsOf, type Grants } from "../../../core/access/grants.ts";
import { longestLifetime } from "../../../core/access/tokens/claims-fault.ts";
import {
  callablePermissions,
  parseAudience,
  reachesAudience,
  type FunctionScope,
} from "../../../core/access/tokens/function-scope.ts";
import type { NamespaceRules } from "../../../core/namespaces/namespace-rules.ts";
import { quote } from "../../../core/quote.ts";
import type { FormBody } from "../../rest/form-body.ts";
import { readExchangeRequest } from "./exchange-request.ts";
import type { TokenTimes } from "./own-keys.ts";
import { TokenFault } from "./token-fault.ts";
import { verifySubject, type ExchangeSubject, type SubjectParts } from "./verify-subject.ts";

export interface ExchangeParts extends SubjectParts {
  readonly namespaces: NamespaceRules;
}

/** Longest token that is issued, in characters: it must fit into a request's head (16 KiB) with other headers. */
const longestIssued = 12_288;

/**
 * Issues a token of this platform for one of a trusted issuer, or a function token for an API token (contract §6).
 * @throws TokenFault
 */
export async function exchangeToken(form: FormBody, parts: ExchangeParts): Promise<Static<typeof TokenReply>> {
  const { subjectToken, kind, audiences } = readExchangeRequest(form);
  const subject = await verifySubject(subjectToken, parts);
  if (kind === "api" && subject.among !== undefined) {
    throw new TokenFault("invalid_request", "an API token can be exchanged with scope function only", {
      subject: subject.claims,
    });
  }
  const grants = grantsOf(parts.rules(), subjectClaims(subject.claims), subject.among);
  if (grants.policies.length === 0) {
    throw new TokenFault("invalid_request", "no Role gives its subject a Policy", { subject: subject.claims });
  }
  const claims = { ...subject.claims, policy: grants.policies };
  const times = timesOf(subject, parts.now());
  const token =
    kind === "api"
      ? await parts.keys.sign("api", claims, times)
      : await parts.keys.sign(
          "function",
          { ...claims, function: scopeOf(grants, audiences, subject, parts.namespaces) },
          times,
        );
  if (token.length > longestIssued) {
    const why = `with all claims and policies it would be longer than ${longestIssued} characters`;
    throw new TokenFault("invalid_request", why, { subject: subject.claims });
  }
  return {
    access_token: token,
    issued_token_type: accessTokenType,
    token_type: "Bearer",
    expires_in: times.expiresAt - times.issuedAt,
    ...(kind === "function" ? { scope: "function" } : {}),
  };
}

/** What a function token may call; an audience that it could not call is refused rather than dropped. */
function scopeOf(
  grants: Grants,
  wanted: readonly string[],
  { claims: subject }: ExchangeSubject,
  namespaces: NamespaceRules,
): FunctionScope {
  const permissions = callablePermissions(grants);
  if (permissions.length === 0) {
    throw new TokenFault("invalid_request", "no Policy allows its subject Function:Invoke", { subject });
  }
  const audience = wanted.map((text) => {
    const named = parseAudience(text, namespaces);
    if (named === undefined) {
      const why = `audience ${quote(text)} is neither namespace:function nor namespace:*`;
      throw new TokenFault("invalid_target", why, { subject });
    }
    if (permissions.some((permission) => reachesAudience(permission, named))) return named;
    throw new TokenFault("invalid_target", `no Policy allows its subject Function:Invoke on ${named}`, { subject });
  });
  return { permissions, audience: [...new Set(audience)] };
}

/** A token that is issued for another one of this platform ends with it, at the latest. */
function timesOf({ issuer, endsAt = Number.POSITIVE_INFINITY }: ExchangeSubject, now: number): TokenTimes {
  const issuedAt = Math.floor(now / 1_000);
  const lifetime = Math.min(Math.floor(issuer.tokenExpiry / 1_000), longestLifetime);
  return { issuedAt, expiresAt: Math.min(issuedAt + lifetime, endsAt) };
}
