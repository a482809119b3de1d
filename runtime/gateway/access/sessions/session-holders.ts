import { federatedPrefix } from "../../../core/access/claims.ts";
import { displayName } from "../../../core/access/display-name.ts";
import { grantsOf } from "../../../core/access/grants.ts";
import { administrator, type Principal } from "../../../core/access/principal.ts";
import type { RuleSet } from "../../../core/access/rule-set.ts";
import { sessionEnd, type Session } from "../../../core/ports/session-store.ts";
import type { CredentialDigests } from "../credential-files.ts";
import { credentialsDigest, isSameText } from "./session-secret.ts";

export interface SessionHolderParts {
  /** The administrator's credentials as they are now; absent where nobody signs in with them. */
  readonly credentials: (() => CredentialDigests) | undefined;
  /** Absent where only the administrator is known. */
  readonly rules: (() => RuleSet) | undefined;
}

/** Who holds a session, and what the rules in force allow them. */
export class SessionHolders {
  readonly #parts: SessionHolderParts;
  /** By session, for one version of the rules each. */
  readonly #principals = new WeakMap<Session, { readonly version: string; readonly principal: Principal }>();

  constructor(parts: SessionHolderParts) {
    this.#parts = parts;
  }

  /**
   * The holder; undefined when the session counts no more: the administrator has other credentials now, or the issuer
   * is not trusted any more. Roles are matched once for each version of the rules.
   */
  holderOf(session: Session, secret: string): Principal | undefined {
    const { credentials, rules } = this.#parts;
    if (session.via === "basic") {
      if (credentials === undefined || session.credentials === undefined) return undefined;
      const isSame = isSameText(session.credentials, credentialsDigest(secret, credentials()));
      return isSame ? { ...administrator("session"), expiresAt: session.expiresAt } : undefined;
    }
    return rules === undefined ? undefined : this.#subjectOf(session, rules());
  }

  #subjectOf(session: Session, rules: RuleSet): Principal | undefined {
    const { issuer, subject, claims } = session;
    const trusted = issuer === undefined ? undefined : rules.issuers.get(issuer);
    if (trusted?.login === undefined || trusted.denied.includes(subject)) return undefined;
    const found = this.#principals.get(session);
    if (found !== undefined && found.version === rules.version) return found.principal;
    const principal: Principal = {
      via: "session",
      subject: `${federatedPrefix}${subject}`,
      issuer,
      name: displayName(claims, trusted) ?? session.name,
      claims,
      grants: grantsOf(rules, claims),
      expiresAt: sessionEnd(session),
    };
    this.#principals.set(session, { version: rules.version, principal });
    return principal;
  }
}
