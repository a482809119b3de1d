import { decodeJwt } from "jose";
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  fetchUserInfo,
  refreshTokenGrant,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type Configuration,
  type TokenEndpointResponse,
} from "openid-client";

import { PlatformError } from "../../../api/platform-error.ts";
import { loginScopes } from "../../../api/resources/iam-resources.ts";
import type { ConsoleIssuer } from "../../../api/schemas/iam/session.ts";
import { subjectClaims } from "../../../core/access/claims.ts";
import { displayName } from "../../../core/access/display-name.ts";
import type { RuleSet, TrustedIssuer } from "../../../core/access/rule-set.ts";
import type { IssuerDocuments } from "../../../core/ports/issuer-documents.ts";
import type { Session } from "../../../core/ports/session-store.ts";
import { quote } from "../../../core/quote.ts";
import type { Log } from "../../../process/log.ts";
import type { IssuerWord, Renewal } from "../../access/sessions/session-renewals.ts";
import type { SessionFacts } from "../../access/sessions/session-table.ts";
import type { TokenParts } from "../../access/tokens/token-parts.ts";
import { verifySubject } from "../../access/tokens/verify-subject.ts";
import { IssuerClients, type LoginIssuer } from "./issuer-clients.ts";
import { isRefusal, IssuerFault, loginRefused } from "./login-refused.ts";
import { loginStates, type LoginStates } from "./login-state.ts";
import { readLogoutToken, type IssuerLogout } from "./logout-token.ts";
import { loginTarget } from "./login-target.ts";

export interface IssuerLoginParts {
  readonly tokens: TokenParts;
  readonly documents: IssuerDocuments;
  /** `secret_mount_path`. */
  readonly directory: string;
  readonly log: Log;
}

/** Where issuers send browsers back to. */
export const callbackPath = "/auth/callback";

/** Signs people in at issuers: code flow with PKCE (OpenID Connect Core, RFC 7636, RFC 9207). */
export class IssuerLogin {
  readonly #parts: IssuerLoginParts;
  readonly #clients: IssuerClients;
  readonly #states: LoginStates;

  constructor(parts: IssuerLoginParts) {
    const { documents, directory, tokens } = parts;
    this.#parts = parts;
    this.#clients = new IssuerClients({ documents, directory, now: tokens.now });
    this.#states = loginStates(tokens.keys);
  }

  /** The issuers that people can sign in at, the default one first. */
  offered(): readonly ConsoleIssuer[] {
    return offeredIssuers(this.#parts.tokens.rules()).map(({ name, iss: issuer }) => ({ name, issuer }));
  }

  /**
   * Where the browser goes to sign in at the JwtIssuer `name`, or at the first one, and what it keeps meanwhile.
   * @throws PlatformError `validation_failed`, `forbidden`, `provider_unavailable`
   */
  async begin(
    name: string | undefined,
    to: string | undefined,
    origin: string,
  ): Promise<{ readonly location: string; readonly kept: string }> {
    const target = loginTarget(to);
    const issuer = chosenIssuer(this.#parts.tokens.rules(), name);
    try {
      const client = await this.#clients.of(issuer);
      const [state, nonce, verifier] = [randomState(), randomNonce(), randomPKCECodeVerifier()];
      const location = buildAuthorizationUrl(client, {
        redirect_uri: `${origin}${callbackPath}`,
        scope: [...new Set(["openid", ...loginScopes(issuer.login)])].join(" "),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
      const found = { issuer: issuer.name, state, nonce, verifier, to: target };
      return { location: location.href, kept: await this.#states.seal(found, this.#parts.tokens.now()) };
    } catch (err) {
      throw loginRefused(issuer.name, err);
    }
  }

  /**
   * Who came back from an issuer to `url`, and where they want to go. Signature and claims of the issuer's token are
   * checked as at the exchange, and it must be the answer to what this browser began.
   * @throws PlatformError `validation_failed`, `forbidden`, `provider_unavailable`
   */
  async finish(
    url: URL,
    kept: string,
  ): Promise<{ readonly facts: SessionFacts; readonly refreshToken: string | undefined; readonly to: string }> {
    const { tokens } = this.#parts;
    const begun = await this.#states.open(kept, tokens.now());
    if (begun === undefined) {
      throw new PlatformError("validation_failed", "Cannot sign in: it was not begun here in the last 10 minutes");
    }
    const issuer = chosenIssuer(tokens.rules(), begun.issuer);
    try {
      const client = await this.#clients.of(issuer);
      const given = await authorizationCodeGrant(client, url, {
        pkceCodeVerifier: begun.verifier,
        expectedState: begun.state,
        expectedNonce: begun.nonce,
        idTokenExpected: true,
      });
      if (given.id_token === undefined) throw new IssuerFault("it gave no id token");
      const { refreshToken, ...word } = await this.#wordOf(given, given.id_token, issuer, client);
      return {
        facts: { via: "issuer", subject: subjectIn(word), issuer: issuer.iss, ...word },
        refreshToken,
        to: begun.to,
      };
    } catch (err) {
      throw loginRefused(issuer.name, err);
    }
  }

  /** Asks the issuer of a session whether the person may go on. */
  async renew(session: Session, refreshToken: string): Promise<Renewal> {
    const issuer = this.#parts.tokens.rules().issuers.get(session.issuer ?? "");
    if (issuer === undefined || !hasLogin(issuer)) return { kind: "refused" };
    try {
      const client = await this.#clients.of(issuer);
      const given = await refreshTokenGrant(client, refreshToken);
      const idToken = given.id_token;
      // An issuer may leave it out (OpenID Connect Core, section 12.2).
      const word =
        idToken === undefined
          ? keptWord(session, given, this.#now())
          : await this.#wordOf(given, idToken, issuer, client);
      return subjectIn(word) === session.subject ? { kind: "renewed", word } : { kind: "refused" };
    } catch (err) {
      if (isRefusal(err)) return { kind: "refused" };
      this.#parts.log.warn({ err, issuer: issuer.name }, "session not renewed at its issuer");
      return { kind: "unavailable" };
    }
  }

  /** What tokens of an issuer say, once the id token is verified. */
  async #wordOf(given: GivenTokens, idToken: string, issuer: LoginIssuer, client: Configuration): Promise<IssuerWord> {
    const verified = await verifySubject(idToken, this.#parts.tokens);
    if (verified.issuer.name !== issuer.name) throw new IssuerFault("its token is of another issuer");
    const claims = subjectClaims(verified.claims);
    const name = await this.#nameOf(claims, issuer, client, given.access_token);
    const endsAt = (decodeJwt(idToken).exp ?? 0) * 1_000;
    return { claims, ...name, idToken, ...renewableUntil(given, endsAt, this.#now()) };
  }

  #now(): number {
    return this.#parts.tokens.now();
  }

  /** Where the id token names nobody, the issuer's UserInfo may (OpenID Connect Core, section 5.3); no sign-in fails by it. */
  async #nameOf(
    claims: Session["claims"],
    issuer: LoginIssuer,
    client: Configuration,
    accessToken: string,
  ): Promise<Pick<Session, "name">> {
    if (displayName(claims, issuer) !== undefined) return {};
    if (client.serverMetadata().userinfo_endpoint === undefined) return {};
    try {
      const name = displayName(await fetchUserInfo(client, accessToken, String(claims["sub"])), issuer);
      return name === undefined ? {} : { name };
    } catch (err) {
      this.#parts.log.info({ err, issuer: issuer.name }, "issuer does not say what people are called");
      return {};
    }
  }

  /**
   * Whom an issuer signs out by a logout token.
   * @throws PlatformError `validation_failed`, `provider_unavailable`
   */
  readLogout(token: string): Promise<IssuerLogout> {
    return readLogoutToken(token, this.#parts.tokens);
  }

  /** Tells the issuer that a session was ended here, without waiting for its reply. */
  endAtIssuer({ issuer: iss, idToken }: Session): void {
    const issuer = iss === undefined ? undefined : this.#parts.tokens.rules().issuers.get(iss);
    if (issuer === undefined || !hasLogin(issuer) || idToken === undefined) return;
    this.#endSession(issuer, idToken).catch((err: unknown) =>
      this.#parts.log.warn({ err, issuer: issuer.name }, "session at issuer not ended"),
    );
  }

  async #endSession(issuer: LoginIssuer, idToken: string): Promise<void> {
    const client = await this.#clients.of(issuer);
    if (client.serverMetadata().end_session_endpoint === undefined) return;
    const url = buildEndSessionUrl(client, { id_token_hint: idToken });
    const { status } = await this.#parts.documents.fetchFromIssuer(issuer, url.href);
    if (status >= 400) throw new Error(`expected no error, got status ${status}`);
  }
}

/** @throws PlatformError `validation_failed` when there is no such issuer to sign in at */
function chosenIssuer(rules: RuleSet, name: string | undefined): LoginIssuer {
  const offered = offeredIssuers(rules);
  const [first] = offered;
  const found = name === undefined || name === "" ? first : offered.find((each) => each.name === name);
  if (found !== undefined) return found;
  const why = first === undefined ? "no JwtIssuer has a login" : `no JwtIssuer ${quote(name ?? "")} has a login`;
  throw new PlatformError("validation_failed", `Cannot sign in: ${why}`);
}

/** By name: the first one is the default. */
function offeredIssuers({ issuers }: RuleSet): readonly LoginIssuer[] {
  return [...issuers.values()].filter(hasLogin).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function hasLogin(issuer: TrustedIssuer): issuer is LoginIssuer {
  return issuer.login !== undefined;
}

type GivenTokens = Pick<TokenEndpointResponse, "access_token" | "expires_in" | "refresh_token">;

/** Longest that a person is not asked about who can be, milliseconds: some issuers' tokens live for a day. */
const longestWord = 15 * 60_000;
/** How long an access token counts that does not say, milliseconds. */
const usualWord = 5 * 60_000;

/** @throws IssuerFault without a subject */
function subjectIn({ claims: { sub } }: Pick<IssuerWord, "claims">): string {
  if (typeof sub !== "string") throw new IssuerFault("its token has no subject");
  return sub;
}

function renewableUntil({ refresh_token: refreshToken }: GivenTokens, endsAt: number, now: number) {
  if (refreshToken === undefined) return { tokenEndsAt: endsAt };
  return { tokenEndsAt: Math.min(endsAt, now + longestWord), refreshToken };
}

/** The word of a session whose issuer renews it without another id token. */
function keptWord({ claims, name, idToken }: Session, given: GivenTokens, now: number): IssuerWord {
  const lasts = given.expires_in === undefined ? usualWord : given.expires_in * 1_000;
  return {
    claims,
    ...(name === undefined ? {} : { name }),
    ...(idToken === undefined ? {} : { idToken }),
    ...renewableUntil(given, now + Math.min(lasts, longestWord), now),
  };
}
