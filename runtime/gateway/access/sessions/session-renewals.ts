import { setTimeout as pause } from "node:timers/promises";

import { sessionGrace, type Session, type SessionStore } from "../../../core/ports/session-store.ts";
import type { Log } from "../../../process/log.ts";
import { openWith, sealWith } from "./session-secret.ts";

/** What an issuer says of who signed in there, as long as its token lasts. */
export type IssuerWord = Pick<Session, "claims" | "name" | "idToken"> & {
  readonly tokenEndsAt: number;
  /** Absent: it gives none, so that its word cannot be renewed. */
  readonly refreshToken?: string | undefined;
};

/** What an issuer said when it was asked again. */
export type Renewal =
  | { readonly kind: "renewed"; readonly word: IssuerWord }
  /** The person may not go on, or the issuer does not know the session any more. */
  | { readonly kind: "refused" }
  /** It cannot be asked now. */
  | { readonly kind: "unavailable" };

/** Asks the issuer of a session by its refresh token; never rejects. */
export type AskIssuer = (session: Session, refreshToken: string) => Promise<Renewal>;

export interface SessionRenewalParts {
  readonly store: Pick<SessionStore, "get" | "replace" | "remove">;
  readonly log: Log;
  readonly now: () => number;
  /** Resolves after that many milliseconds. */
  readonly wait?: (milliseconds: number) => Promise<unknown>;
}

/** Milliseconds within which a gateway that asks an issuer is done; then another one may ask. */
const askingTime = 10_000;
/** Milliseconds between two looks whether another gateway is done. */
const lookEvery = 250;
/** Milliseconds until an issuer that could not be asked is asked again about a session. */
const askAgainAfter = 30_000;

/**
 * Keeps sessions alive no longer than the tokens of their issuers: one whose token has ended is renewed by its refresh
 * token, by one gateway at a time, as many issuers take such a token once. Without a refresh token, or while the issuer
 * cannot be asked, it goes on for `sessionGrace`.
 */
export class SessionRenewals {
  readonly #parts: Required<SessionRenewalParts>;
  readonly #running = new Map<string, Promise<Session | undefined>>();
  readonly #askAgainAt = new Map<string, number>();
  #ask: AskIssuer | undefined;

  constructor(parts: SessionRenewalParts) {
    this.#parts = { wait: pause, ...parts };
  }

  /** From now on sessions are renewed so. */
  askBy(ask: AskIssuer): void {
    this.#ask = ask;
  }

  /**
   * The session as it counts now; undefined when it is over.
   * @throws PlatformError `provider_unavailable` when that cannot be stored
   */
  async current(key: string, secret: string, session: Session): Promise<Session | undefined> {
    if (!isDue(session, this.#parts.now())) return session;
    const running = this.#running.get(key) ?? this.#renew(key, secret, session);
    this.#running.set(key, running);
    try {
      return await running;
    } finally {
      this.#running.delete(key);
    }
  }

  async #renew(key: string, secret: string, session: Session): Promise<Session | undefined> {
    const { now, store } = this.#parts;
    const refreshToken = session.refresh === undefined ? undefined : openWith(secret, session.refresh);
    if (refreshToken === undefined || this.#ask === undefined) {
      if (inGrace(session, now())) return session;
      await store.remove(key);
      return undefined;
    }
    if ((this.#askAgainAt.get(key) ?? 0) > now()) return inGrace(session, now()) ? session : undefined;
    const asking: Session = { ...session, renewingUntil: now() + askingTime };
    try {
      const isOurs = (session.renewingUntil ?? 0) <= now() && (await store.replace(key, session, asking));
      return isOurs ? await this.#asked(key, secret, asking, refreshToken) : await this.#afterOther(key, secret);
    } catch (err) {
      if (inGrace(session, now())) return session;
      throw err;
    }
  }

  async #asked(key: string, secret: string, asking: Session, refreshToken: string): Promise<Session | undefined> {
    const { log, now, store } = this.#parts;
    const { renewingUntil: _, ...before } = asking;
    const renewal = (await this.#ask?.(before, refreshToken)) ?? { kind: "unavailable" };
    switch (renewal.kind) {
      case "renewed": {
        const { refreshToken: next = refreshToken, ...word } = renewal.word;
        const renewed: Session = { ...before, ...word, refresh: sealWith(secret, next) };
        return (await store.replace(key, asking, renewed)) ? renewed : await store.get(key);
      }
      case "refused":
        log.info({ subject: before.subject, issuer: before.issuer }, "session ended: its issuer does not renew it");
        await store.remove(key);
        return undefined;
      case "unavailable":
        this.#askAgainLater(key);
        await store.replace(key, asking, before);
        return inGrace(before, now()) ? before : undefined;
      default:
        return renewal satisfies never;
    }
  }

  /** Another gateway asks the issuer just now: what it makes of the session. */
  async #afterOther(key: string, secret: string): Promise<Session | undefined> {
    const { now, store, wait } = this.#parts;
    for (const until = now() + askingTime; now() < until;) {
      const found = await store.get(key);
      if (found === undefined || !isDue(found, now())) return found;
      if ((found.renewingUntil ?? 0) <= now()) {
        // It could not, or ended before it was done.
        return inGrace(found, now()) ? found : this.#renew(key, secret, found);
      }
      if (inGrace(found, now())) return found;
      await wait(lookEvery);
    }
    return undefined;
  }

  #askAgainLater(key: string): void {
    const { now } = this.#parts;
    for (const [other, at] of this.#askAgainAt) if (at <= now()) this.#askAgainAt.delete(other);
    this.#askAgainAt.set(key, now() + askAgainAfter);
  }
}

function isDue({ tokenEndsAt }: Session, now: number): boolean {
  return tokenEndsAt !== undefined && now >= tokenEndsAt;
}

function inGrace({ tokenEndsAt = 0 }: Session, now: number): boolean {
  return now < tokenEndsAt + sessionGrace;
}
