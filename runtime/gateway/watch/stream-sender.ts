import { PlatformError } from "../../api/platform-error.ts";
import type { Principal } from "../../core/access/principal.ts";
import { lastMomentOf } from "../calls/last-moment.ts";

export interface StreamSenderParts {
  readonly principal: Principal;
  /** Finds out again who sends it; absent: that does not change. */
  readonly renew?: (() => Promise<Principal>) | undefined;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** What became of a sender. */
export type SenderState = "same" | "changed" | "gone";

/** Milliseconds between two looks: a sign-out counts everywhere within a second; credentials are read again at leisure. */
const pace = { session: 1_000, other: 15_000 } as const;

/** Who reads a stream, which lasts longer than what they may do. */
export class StreamSender {
  readonly #renew: (() => Promise<Principal>) | undefined;
  readonly #now: () => number;
  readonly #lastMoment: number;
  #principal: Principal;
  #nextAt: number;
  #isLooking = false;

  constructor({ principal, renew, now }: StreamSenderParts) {
    this.#principal = principal;
    this.#renew = renew;
    this.#now = now;
    this.#lastMoment = lastMomentOf(principal);
    this.#nextAt = now() + this.#pace;
  }

  get principal(): Principal {
    return this.#principal;
  }

  /** Whether it is time to look again. */
  get isDue(): boolean {
    return !this.#isLooking && this.#now() >= this.#nextAt;
  }

  /** Looks whether they may still read; a token may end a while before its stream. */
  async look(): Promise<SenderState> {
    if (performance.now() >= this.#lastMoment) return "gone";
    const { via, expiresAt } = this.#principal;
    // From then on its token is refused.
    const isOver = via === "token" && expiresAt !== undefined && Date.now() >= expiresAt;
    if (this.#renew === undefined || isOver) return "same";
    this.#isLooking = true;
    try {
      const next = await this.#renew();
      const isSame = next.subject === this.#principal.subject && areSame(next.grants, this.#principal.grants);
      this.#principal = next;
      return isSame ? "same" : "changed";
    } catch (err) {
      // Others at the same address may have failed to sign in.
      return err instanceof PlatformError && err.code === "too_many_logins" ? "same" : "gone";
    } finally {
      this.#isLooking = false;
      this.#nextAt = this.#now() + this.#pace;
    }
  }

  get #pace(): number {
    return this.#principal.via === "session" ? pace.session : pace.other;
  }
}

/** A session that was renewed has grants of its own, mostly equal ones. */
function areSame(one: Principal["grants"], other: Principal["grants"]): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
