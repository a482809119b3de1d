import type { CryptoKey } from "jose";

import type { RuleSet, TrustedIssuer } from "../../../core/access/rule-set.ts";
import type { TokenHeader } from "../../../core/access/tokens/parse-token.ts";
import type { IssuerDocuments } from "../../../core/ports/issuer-documents.ts";
import type { Log } from "../../../process/log.ts";
import { IssuerKeys } from "./issuer-keys.ts";
import { readKeySet } from "./read-key-set.ts";

export interface TrustedKeysParts {
  readonly documents: IssuerDocuments;
  readonly rules: () => RuleSet;
  readonly log: Log;
  readonly now?: () => number;
}

/** The keys of all trusted issuers, each set read when a token of the issuer first comes. */
export class TrustedKeys {
  readonly #parts: TrustedKeysParts;
  readonly #sets = new Map<string, IssuerKeys>();

  constructor(parts: TrustedKeysParts) {
    this.#parts = parts;
  }

  /**
   * The key that verifies a token of `issuer` with this header, or undefined when the issuer has none.
   * @throws NoKeySetError
   */
  find(issuer: TrustedIssuer, header: TokenHeader): Promise<CryptoKey | undefined> {
    return this.#setOf(issuer).find(header);
  }

  /** Reads the keys of an issuer unless they are fresh; resolves with why that failed, or undefined. */
  check(issuer: TrustedIssuer): Promise<unknown> {
    return this.#setOf(issuer).check();
  }

  #setOf(issuer: TrustedIssuer): IssuerKeys {
    const address = addressOf(issuer);
    const known = this.#sets.get(address);
    if (known !== undefined) return known;
    this.#dropUntrusted();
    const { documents, log, now } = this.#parts;
    const set = new IssuerKeys(
      () => readKeySet(issuer, documents),
      (err) => log.warn({ err, issuer: issuer.name }, "keys of issuer unavailable"),
      now,
    );
    this.#sets.set(address, set);
    return set;
  }

  #dropUntrusted(): void {
    const trusted = new Set([...this.#parts.rules().issuers.values()].map(addressOf));
    for (const address of this.#sets.keys()) if (!trusted.has(address)) this.#sets.delete(address);
  }
}

function addressOf({ iss, internal = "" }: TrustedIssuer): string {
  return `${iss} ${internal}`;
}
