import { claimTexts, subjectClaims } from "../../core/access/claims.ts";
import { displayName } from "../../core/access/display-name.ts";
import { grantsOf, noGrants } from "../../core/access/grants.ts";
import { tokenHolder, type Principal } from "../../core/access/principal.ts";
import { isDenied, type RuleSet } from "../../core/access/rule-set.ts";
import type { OwnToken, TokenReader } from "./tokens/token-reader.ts";

const bearer = /^bearer +([^ ]+) *$/i;
/** How nearly all clients write it. */
const usualScheme = "Bearer ";

/** The token of a Bearer header; undefined for other schemes, and for one without a token. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  // The same as the expression finds, which goes through the token character by character.
  const begin = usualScheme.length;
  if (authorization.length > begin && authorization.startsWith(usualScheme) && !authorization.includes(" ", begin)) {
    return authorization.slice(begin);
  }
  return bearer.exec(authorization)?.[1];
}

/** Finds out who holds a token of this platform, and what the rules in force allow them. */
export class TokenHolders {
  readonly #reader: TokenReader;
  readonly #rules: () => RuleSet;
  /** By token, for one version of the rules each. */
  readonly #principals = new WeakMap<OwnToken, { readonly version: string; readonly principal: Principal }>();

  constructor(reader: TokenReader, rules: () => RuleSet) {
    this.#reader = reader;
    this.#rules = rules;
  }

  /**
   * The valid token, undefined for any other text, and for one of a denied subject; a promise unless it was verified
   * before.
   */
  read(token: string): OwnToken | undefined | Promise<OwnToken | undefined> {
    const found = this.#reader.read(token);
    return found instanceof Promise ? found.then((own) => this.#unlessDenied(own)) : this.#unlessDenied(found);
  }

  #unlessDenied(own: OwnToken | undefined): OwnToken | undefined {
    return own === undefined || isDenied(this.#rules(), own.claims) ? undefined : own;
  }

  /** The holder of a valid token; roles are matched once for each version of the rules. */
  holderOf(token: OwnToken): Principal {
    const rules = this.#rules();
    const found = this.#principals.get(token);
    if (found !== undefined && found.version === rules.version) return found.principal;
    const claims = subjectClaims(token.claims);
    // Its tokens allow nothing once its JwtIssuer is gone.
    const issuer = rules.issuers.get(claimTexts(claims, "iss").texts[0] ?? "");
    const grants = issuer === undefined ? noGrants : grantsOf(rules, claims, token.policies);
    const principal = tokenHolder(token.claims, grants, issuer && displayName(claims, issuer));
    this.#principals.set(token, { version: rules.version, principal });
    return principal;
  }
}
