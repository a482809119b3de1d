import pino from "pino";

import { subjectClaims, type Claims } from "../../runtime/core/access/claims.ts";
import { buildRuleSet, type AccessDocument } from "../../runtime/core/access/build-rule-set.ts";
import { noRules, type RuleSet } from "../../runtime/core/access/rule-set.ts";
import type { PolicySpec } from "../../runtime/api/resources/iam-resources.ts";
import { TokenHolders } from "../../runtime/gateway/access/token-holders.ts";
import type { OwnToken, TokenReader } from "../../runtime/gateway/access/tokens/token-reader.ts";
import type { TokenParts } from "../../runtime/gateway/access/tokens/token-parts.ts";
import { TrustedKeys } from "../../runtime/gateway/access/tokens/trusted-keys.ts";

/** The issuer of all subjects. */
export const subjectIssuer = "https://issuer.example";

/** Actions of a statement, and what they may be done to. */
export type Allowed = readonly [actions: readonly string[], resources: readonly string[]];

/** Tokens that are valid because they are in a list, and rules that tests set: for gateways in tests. */
export class FakeTokens {
  rules: RuleSet = noRules;
  /** Tokens that were verified, which takes as long as this promise. */
  readonly verified: string[] = [];
  verifying: Promise<void> = Promise.resolve();
  readonly #given = new Map<string, OwnToken>();
  readonly #known = new Set<string>();
  readonly reader: TokenReader = {
    read: (token) => (this.#known.has(token) ? this.#given.get(token) : this.#verify(token)),
  };
  readonly parts: TokenParts = {
    rules: () => this.rules,
    keys: {
      issuer: "https://weir.example",
      keySet: () => ({ keys: [] }),
      sign: () => Promise.reject(new Error("this test signs no tokens")),
      sealing: () => {
        throw new Error("this test seals nothing");
      },
      reader: this.reader,
    },
    holders: new TokenHolders(this.reader, () => this.rules),
    issuers: new TrustedKeys({
      documents: { fetchFromIssuer: () => Promise.reject(new Error("this test has no issuer")) },
      rules: () => this.rules,
      log: pino({ level: "silent" }),
    }),
    now: Date.now,
  };

  /** A Bearer header whose token counts as valid, with the policies that the present rules give its subject. */
  give(subject: string, over: Partial<OwnToken> & { readonly more?: Claims } = {}): string {
    const { more = {}, ...token } = over;
    const expiresAt = token.expiresAt ?? Date.now() + 60_000;
    const issued = {
      sub: `fed:${subject}`,
      "fed:iss": subjectIssuer,
      "fed:aud": "weir",
      exp: expiresAt / 1_000,
      ...more,
    };
    const claims = token.claims ?? issued;
    const own = subjectClaims(claims)["sub"];
    const policies = new Set(this.rules.roles.filter(({ name }) => name === own).flatMap(({ policy }) => policy));
    const text = `t${this.#given.size}.${subject}.x`;
    this.#given.set(text, { kind: "api", policies, ...token, claims, expiresAt });
    return `Bearer ${text}`;
  }

  /** Replaces the rules: each subject has one Role and one Policy of its own name. */
  allow(subjects: Readonly<Record<string, Allowed | readonly Allowed[]>>, report: readonly string[] = []): void {
    const documents = Object.entries(subjects).flatMap(([name, allowed]): AccessDocument[] => [
      { kind: "Policy", name, spec: { statement: statementsOf(allowed) } },
      {
        kind: "Role",
        name,
        spec: {
          policy: [name],
          principal: { "jwt:sub": [name] },
          condition: { StringEqual: { "jwt:iss": subjectIssuer } },
          mode: report.includes(name) ? "report" : "enforce",
        },
      },
    ]);
    const issuer: AccessDocument = { kind: "JwtIssuer", name: "one", spec: { iss: subjectIssuer, aud: ["weir"] } };
    this.rules = buildRuleSet([issuer, ...documents]);
  }

  async #verify(token: string): Promise<OwnToken | undefined> {
    this.verified.push(token);
    await this.verifying;
    const found = this.#given.get(token);
    if (found !== undefined) this.#known.add(token);
    return found;
  }
}

function statementsOf(allowed: Allowed | readonly Allowed[]): PolicySpec["statement"] {
  const list = isOne(allowed) ? [allowed] : allowed;
  return list.map(([action, resource], index) => ({
    sid: String(index + 1),
    effect: "Allow",
    action: [...action],
    resource: [...resource],
  }));
}

function isOne(allowed: Allowed | readonly Allowed[]): allowed is Allowed {
  return typeof allowed[0]?.[0] === "string";
}
