import type { CryptoKey } from "jose";

import type { TokenHeader } from "../../../core/access/tokens/parse-token.ts";
import { SharedRead } from "../../../core/shared-read.ts";
import { keyFor, type UsableKey } from "./usable-keys.ts";

/** Milliseconds after which a set is read again before it is used. */
const freshFor = 600_000;
/** Milliseconds between two reads, whatever they are for and however they end. */
const betweenReads = 30_000;
/** Milliseconds for which the last good set is used while no newer one can be read. */
const goodFor = 86_400_000;

/** There is no good set of an issuer's keys: whether a token is valid cannot be told. */
export class NoKeySetError extends Error {
  override readonly name = "NoKeySetError";
}

/** The keys of one issuer, read when they are needed. */
export class IssuerKeys {
  readonly #read: SharedRead<void>;
  readonly #now: () => number;
  #fault: unknown;
  #set: { readonly keys: readonly UsableKey[]; readonly readAt: number } | undefined;

  /** `onFailure` gets why a read failed. */
  constructor(
    read: () => Promise<readonly UsableKey[]>,
    onFailure: (err: unknown) => void,
    now: () => number = Date.now,
  ) {
    const update = async (): Promise<void> => {
      const readAt = now();
      try {
        this.#set = { keys: await read(), readAt };
        this.#fault = undefined;
      } catch (err) {
        this.#fault = err;
        onFailure(err);
      }
    };
    this.#read = new SharedRead(update, { success: betweenReads, failure: betweenReads }, now);
    this.#now = now;
  }

  /**
   * The key that verifies a token with this header, or undefined when the issuer has none. A kid that is not known yet
   * may be new: the set is read again for it.
   * @throws NoKeySetError
   */
  async find(header: TokenHeader): Promise<CryptoKey | undefined> {
    if (!this.#isYoungerThan(freshFor)) await this.#read.get();
    const { kid } = header;
    if (kid !== undefined && this.#good()?.every((key) => key.kid !== kid) === true) await this.#read.get();
    const keys = this.#good();
    if (keys === undefined) throw new NoKeySetError("Cannot verify token: the keys of its issuer cannot be read");
    return keyFor(keys, header);
  }

  /** Reads the set unless it is fresh; resolves with why the last read failed, or undefined. */
  async check(): Promise<unknown> {
    if (!this.#isYoungerThan(freshFor)) await this.#read.get();
    return this.#fault;
  }

  #good(): readonly UsableKey[] | undefined {
    return this.#isYoungerThan(goodFor) ? this.#set?.keys : undefined;
  }

  #isYoungerThan(age: number): boolean {
    // Absolute: a clock that was set back must not keep old keys.
    return this.#set !== undefined && Math.abs(this.#now() - this.#set.readAt) < age;
  }
}
