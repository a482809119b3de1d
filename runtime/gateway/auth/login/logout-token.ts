import { errors, jwtVerify } from "jose";

import { PlatformError } from "../../../api/platform-error.ts";
import type { Claims } from "../../../core/access/claims.ts";
import { clockTolerance } from "../../../core/access/tokens/claims-fault.ts";
import { parseToken } from "../../../core/access/tokens/parse-token.ts";
import type { Session } from "../../../core/ports/session-store.ts";
import { NoKeySetError } from "../../access/tokens/issuer-keys.ts";
import type { TokenParts } from "../../access/tokens/token-parts.ts";

/** The event of a logout (OpenID Connect Back-Channel Logout 1.0, section 2.4). */
const logoutEvent = "http://schemas.openid.net/event/backchannel-logout";
/** Types of logout tokens (header `typ`); not all issuers write one. */
const logoutTypes: ReadonlySet<string | undefined> = new Set([undefined, "jwt", "logout+jwt"]);
/** Oldest logout token that is taken, seconds. */
const oldest = 300;

/** Whom an issuer signs out: a subject, or one session of it. */
export interface IssuerLogout {
  readonly issuer: string;
  readonly subject: string | undefined;
  /** Id of the issuer's session, claim `sid` of its id tokens. */
  readonly sid: string | undefined;
  /** When the token was issued, milliseconds since 1970. */
  readonly issuedAt: number;
}

/** Whether a session ends by a logout. One that was opened since goes on: the token may be sent again. */
export function endsBy({ issuer, subject, claims, openedAt = 0 }: Session, logout: IssuerLogout): boolean {
  const isMeant =
    issuer === logout.issuer &&
    (logout.sid === undefined || claims["sid"] === logout.sid) &&
    (logout.subject === undefined || subject === logout.subject);
  return isMeant && openedAt < logout.issuedAt + clockTolerance * 1_000;
}

/**
 * Verifies a logout token (OpenID Connect Back-Channel Logout 1.0, section 2.6) of an issuer that people sign in at.
 * @throws PlatformError `validation_failed`, `provider_unavailable` when the keys of its issuer cannot be read
 */
export async function readLogoutToken(
  token: string,
  { rules, issuers, now }: Pick<TokenParts, "rules" | "issuers" | "now">,
): Promise<IssuerLogout> {
  const parsed = parseToken(token);
  if (parsed.kind === "malformed") throw refused(parsed.why);
  const { iss } = parsed.claims;
  const issuer = typeof iss === "string" ? rules().issuers.get(iss) : undefined;
  if (issuer?.login === undefined) throw refused("no JwtIssuer with a login has its iss");
  if (!logoutTypes.has(parsed.header.typ?.toLowerCase().replace(/^application\//, ""))) {
    throw refused("its typ is not that of a logout token");
  }
  const key = await issuers.find(issuer, parsed.header).catch((cause: unknown) => {
    if (!(cause instanceof NoKeySetError)) throw cause;
    const sentence = `Cannot sign out: the keys of JwtIssuer "${issuer.name}" cannot be read`;
    throw new PlatformError("provider_unavailable", sentence, { cause });
  });
  if (key === undefined) throw refused("its issuer has no usable key of its kid and alg");
  let claims: Claims;
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [parsed.header.alg],
      issuer: issuer.iss,
      audience: issuer.login.clientId,
      requiredClaims: ["iat", "jti", "events"],
      maxTokenAge: oldest,
      clockTolerance,
      currentDate: new Date(now()),
    });
    claims = payload;
  } catch (err) {
    if (err instanceof errors.JOSEError) throw refused(err.message);
    throw err;
  }
  return logoutIn(claims, issuer.iss);
}

function logoutIn(claims: Claims, issuer: string): IssuerLogout {
  const { sub, sid, iat, events } = claims;
  if ("nonce" in claims) throw refused("it has a nonce");
  if (typeof events !== "object" || events === null || !Object.hasOwn(events, logoutEvent)) {
    throw refused("it is about no logout");
  }
  const [subject, session] = [textOf(sub, "sub"), textOf(sid, "sid")];
  if (subject === undefined && session === undefined) throw refused("it has neither sub nor sid");
  return { issuer, subject, sid: session, issuedAt: Number(iat) * 1_000 };
}

function textOf(claim: unknown, name: string): string | undefined {
  if (claim === undefined || typeof claim === "string") return claim;
  throw refused(`claim ${name} is no text`);
}

function refused(why: string): PlatformError {
  return new PlatformError("validation_failed", `Cannot sign out: the logout token is not valid: ${why}`);
}
