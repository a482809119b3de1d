import { PlatformError } from "../../../api/platform-error.ts";
import { publicly } from "../../../api/public-sentence.ts";
import { sessionEnd, sessionLifetime, type Session, type SessionStore } from "../../../core/ports/session-store.ts";
import type { Log } from "../../../process/log.ts";
import { SessionRenewals, type AskIssuer } from "./session-renewals.ts";
import { newSecret, sealWith, sessionKey } from "./session-secret.ts";

/** Longest time for which sessions go on although nobody knows whether they were ended, milliseconds. */
const longestAway = 300_000;
/** Most sessions that one request ends: a page of this host may set very many cookies, and each costs the broker. */
const maxEnded = 4;

/** A session that was just opened, and its holder's secret, which is kept nowhere else. */
export interface OpenedSession {
  readonly secret: string;
  readonly session: Session;
}

/** What the holder of a session is known by; the rest is chosen when it is opened. */
export type SessionFacts = Pick<Session, "via" | "subject" | "name" | "issuer" | "claims" | "idToken" | "tokenEndsAt">;

/** What is kept with a session by means of its secret. */
export interface SessionSecrets {
  readonly digest?: (secret: string) => string;
  /** By which the issuer's word is renewed. */
  readonly refreshToken?: string | undefined;
}

/** A session under the id by which it can be ended; the id is of no use to sign in. */
export interface ListedSession {
  readonly id: string;
  readonly session: Session;
}

export interface SessionTableParts {
  readonly store: SessionStore;
  readonly log: Log;
  readonly now?: () => number;
}

/** The sessions of this platform, as this gateway knows them. */
export class SessionTable {
  readonly #store: SessionStore;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #renewals: SessionRenewals;
  /** About in the order in which they expire. */
  readonly #known = new Map<string, Session>();

  constructor({ store, log, now = Date.now }: SessionTableParts) {
    this.#store = store;
    this.#log = log;
    this.#now = now;
    this.#renewals = new SessionRenewals({ store, log, now });
  }

  /** From now on the tokens of issuers are renewed so. */
  renewBy(ask: AskIssuer): void {
    this.#renewals.askBy(ask);
  }

  /** Follows the store from when it can be reached; the returned function ends that. */
  watch(): () => void {
    let ended = false;
    let stop = (): void => {};
    const observer = {
      set: (key: string, session: Session): void => this.#set(key, session),
      removed: (key: string): void => void this.#known.delete(key),
    };
    this.#store.watch(observer).then(
      (end) => {
        if (ended) end();
        else stop = end;
      },
      (err: unknown) => this.#log.warn({ err }, "sessions cannot be watched"),
    );
    return () => {
      ended = true;
      stop();
    };
  }

  /**
   * Opens a session under a new secret.
   * @throws PlatformError `provider_unavailable` when it cannot be stored
   */
  async open(facts: SessionFacts, { digest, refreshToken }: SessionSecrets = {}): Promise<OpenedSession> {
    const secret = newSecret();
    const openedAt = this.#now();
    const session: Session = {
      ...facts,
      ...(digest === undefined ? {} : { credentials: digest(secret) }),
      ...(refreshToken === undefined ? {} : { refresh: sealWith(secret, refreshToken) }),
      publicHalf: newSecret(),
      openedAt,
      expiresAt: openedAt + sessionLifetime,
    };
    const key = keyOf(secret);
    await this.#store.create(key, session);
    this.#set(key, session);
    return { secret, session };
  }

  /**
   * The session of a secret, undefined when there is none or it is over. One that another gateway opened a moment ago is
   * read from the store; one whose issuer's token has ended is renewed.
   * @throws PlatformError `provider_unavailable` when nobody knows
   */
  async find(secret: string): Promise<Session | undefined> {
    const key = sessionKey(secret);
    const session = key === undefined ? undefined : await this.#read(key);
    if (key === undefined || session === undefined) return undefined;
    const current = await this.#renewals.current(key, secret, session);
    if (current === undefined) this.#known.delete(key);
    else if (current !== session) this.#set(key, current);
    return current;
  }

  /** All sessions that are not over. */
  list(): readonly ListedSession[] {
    const now = this.#now();
    return [...this.#known].flatMap(([key, session]) =>
      sessionEnd(session) > now ? [{ id: idOf(key), session }] : [],
    );
  }

  /**
   * Ends all sessions that `isMeant`, on all gateways; resolves with what they were.
   * @throws PlatformError `provider_unavailable` when the others cannot be told of one
   */
  async endAll(isMeant: (session: ListedSession) => boolean): Promise<readonly ListedSession[]> {
    const ended: ListedSession[] = [];
    for (const [key, session] of this.#known) {
      const listed = { id: idOf(key), session };
      if (!isMeant(listed)) continue;
      await this.#store.remove(key);
      this.#known.delete(key);
      ended.push(listed);
    }
    return ended;
  }

  async #read(key: string): Promise<Session | undefined> {
    const away = this.#store.awayFor();
    const known = this.#known.get(key);
    if (known !== undefined && away > longestAway) {
      throw new PlatformError(
        "provider_unavailable",
        publicly`Cannot check session: the store of sessions has been away for more than ${longestAway / 60_000} min`,
      );
    }
    const session = known ?? (await this.#store.get(key));
    return session === undefined || session.expiresAt <= this.#now() ? undefined : session;
  }

  /** Those of the secrets that one request may end: at most 4, of sessions that this gateway knows before others. */
  endable(secrets: readonly string[]): readonly string[] {
    const ranked = [...new Set(secrets)].flatMap((secret) => {
      const key = sessionKey(secret);
      return key === undefined ? [] : [{ secret, isKnown: this.#known.has(key) }];
    });
    return ranked
      .toSorted((a, b) => Number(b.isKnown) - Number(a.isKnown))
      .slice(0, maxEnded)
      .map(({ secret }) => secret);
  }

  /**
   * Ends the session of a secret, on all gateways; resolves with what it was.
   * @throws PlatformError `provider_unavailable` when the others cannot be told
   */
  async end(secret: string): Promise<Session | undefined> {
    const key = sessionKey(secret);
    if (key === undefined) return undefined;
    const session = await this.#read(key);
    if (session === undefined) return undefined;
    this.#known.delete(key);
    await this.#store.remove(key);
    return session;
  }

  #set(key: string, session: Session): void {
    this.#known.set(key, session);
    const time = this.#now();
    for (const [oldest, { expiresAt }] of this.#known) {
      if (expiresAt > time) break;
      this.#known.delete(oldest);
    }
  }
}

/** Short enough to be typed, and long enough that no two are equal. */
function idOf(key: string): string {
  return key.slice(0, 16);
}

function keyOf(secret: string): string {
  const key = sessionKey(secret);
  if (key === undefined) throw new Error("a new secret has the form of one");
  return key;
}
