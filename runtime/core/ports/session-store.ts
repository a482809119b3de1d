import type { Claims } from "../access/claims.ts";

/** How long a session lasts, milliseconds; it is not renewed. */
export const sessionLifetime = 8 * 3_600_000;

/** Someone who signed in with a browser. */
export interface Session {
  /** With the administrator's credentials, or at an issuer. */
  readonly via: "basic" | "issuer";
  /** `admin`, or the subject at its issuer. */
  readonly subject: string;
  /** What people call the subject, where only the issuer's UserInfo says. */
  readonly name?: string;
  /** `iss` of the issuer; absent for the administrator. */
  readonly issuer?: string;
  /** The subject's own claims. */
  readonly claims: Claims;
  /** Digest of the administrator's credentials, which only the holder of the session can compute. */
  readonly credentials?: string;
  /** The issuer's token, by which it ends its own session. */
  readonly idToken?: string;
  /** What the page that signed in sends with each request; no secret. */
  readonly publicHalf: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface SessionObserver {
  set(key: string, session: Session): void;
  /** A session that merely expired is not reported. */
  removed(key: string): void;
}

/**
 * Keeps sessions, each under a key that its holder's secret leads to.
 *
 * - All methods but `watch` reject with `provider_unavailable` when the store cannot be reached.
 * - What was created and not removed is kept for at least `sessionLifetime`, and not much longer.
 */
export interface SessionStore {
  /** Creates a session under a key that was never used. */
  create(key: string, session: Session): Promise<void>;
  get(key: string): Promise<Session | undefined>;
  /** Silent when there is none. */
  remove(key: string): Promise<void>;
  /** Reports all sessions, then every change, within a second; resolves after the former. */
  watch(observer: SessionObserver): Promise<() => void>;
  /** Milliseconds for which changes may not have been reported, as the store cannot be reached; 0 while it can. */
  awayFor(): number;
}
