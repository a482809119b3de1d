import type { Claims } from "../access/claims.ts";

/** Longest that a session lasts, milliseconds. */
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
  /** When it ends at the latest, milliseconds since 1970. */
  readonly expiresAt: number;
  /** When it was opened; absent in sessions of earlier releases. */
  readonly openedAt?: number;
  /** When the issuer's token ends, which has to be renewed then; absent: never. */
  readonly tokenEndsAt?: number;
  /** The issuer's refresh token, sealed with the session's secret. */
  readonly refresh?: string;
  /** Until when a gateway is asking the issuer, so that no other one does. */
  readonly renewingUntil?: number;
}

/** How long a session goes on after the end of the issuer's token, milliseconds. */
export const sessionGrace = 5 * 60_000;

/** When a session ends unless its token is renewed in time, milliseconds since 1970. */
export function sessionEnd({ expiresAt, tokenEndsAt, refresh }: Session): number {
  if (tokenEndsAt === undefined || refresh !== undefined) return expiresAt;
  return Math.min(expiresAt, tokenEndsAt + sessionGrace);
}

/** Whether two sessions are equal, as they are stored. */
export function isSameSession(one: Session, other: Session): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
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
  /** Replaces a session by its successor; false if it is not the same any more. */
  replace(key: string, before: Session, after: Session): Promise<boolean>;
  /** Silent when there is none. */
  remove(key: string): Promise<void>;
  /** Reports all sessions, then every change, within a second; resolves after the former. */
  watch(observer: SessionObserver): Promise<() => void>;
  /** Milliseconds for which changes may not have been reported, as the store cannot be reached; 0 while it can. */
  awayFor(): number;
}
