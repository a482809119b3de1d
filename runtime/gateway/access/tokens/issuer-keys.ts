import type { CryptoKey } from "jose";

import type { TokenHeader } from "../../../core/access/tokens/parse-token.ts";
import { keyFor, type UsableKey } from "./usable-keys.ts";

/** Milliseconds after which a set is read again before it is used. */
const freshFor = 600_000;
/** Milliseconds between two reads, whatever they are for and however they end. */
const readInterval = 30_000;
/** Milliseconds for which the last good set is used while no newer one can be read. */
const goodFor = 86_400_000;

/** There is no good set of an issuer's keys: whether a token is valid cannot be told. */
export class NoKeySetError extends Error {
  override readonly name = "NoKeySetError";
}

/** The keys of one issuer, read when they are needed. */
export class IssuerKeys {
  readonly #read: () => Promise<readonly UsableKey[]>;
  readonly #onFailure: (err: unknown) => void;
  readonly #now: () => number;
  #set: { readonly keys: readonly UsableKey[]; readonly readAt: number } | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  /** `onFailure` gets why a read failed. */
  constructor(
    read: () => Promise<readonly UsableKey[]>,
    onFailure: (err: unknown) => void,
    now: () => number = Date.now,
  ) {
    this.#read = read;
    this.#onFailure = onFailure;
    this.#now = now;
  }

  /**
   * The key that verifies a token with this header, or undefined when the issuer has none. A kid that is not known yet
   * may be new: the set is read again for it.
   * @throws NoKeySetError
   */
  async find(header: TokenHeader): Promise<CryptoKey | undefined> {
    if (!this.#isYoungerThan(freshFor)) await this.#readAgain();
    const { kid } = header;
    if (kid !== undefined && this.#good()?.every((key) => key.kid !== kid) === true) await this.#readAgain();
    const keys = this.#good();
    if (keys === undefined) throw new NoKeySetError("Cannot verify token: the keys of its issuer cannot be read");
    return keyFor(keys, header);
  }

  #good(): readonly UsableKey[] | undefined {
    return this.#isYoungerThan(goodFor) ? this.#set?.keys : undefined;
  }

  #isYoungerThan(age: number): boolean {
    return this.#set !== undefined && this.#since(this.#set.readAt) < age;
  }

  /** Absolute: a clock that was set back must not keep old keys. */
  #since(time: number): number {
    return Math.abs(this.#now() - time);
  }

  #readAgain(): Promise<void> {
    if (this.#reading === undefined && this.#since(this.#triedAt) >= readInterval) {
      this.#triedAt = this.#now();
      this.#reading = this.#update().finally(() => {
        this.#reading = undefined;
      });
    }
    return this.#reading ?? Promise.resolve();
  }

  async #update(): Promise<void> {
    try {
      const keys = await this.#read();
      this.#set = { keys, readAt: this.#triedAt };
    } catch (err) {
      this.#onFailure(err);
    }
  }
}
