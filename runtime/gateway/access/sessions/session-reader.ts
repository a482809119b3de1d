import { PlatformError } from "../../../api/platform-error.ts";
import type { Principal } from "../../../core/access/principal.ts";
import type { Session } from "../../../core/ports/session-store.ts";
import { isSameText } from "./session-secret.ts";
import type { SessionHolders } from "./session-holders.ts";
import type { SessionTable } from "./session-table.ts";

/** What a browser sends to be recognised. */
export interface SessionProof {
  /** Values of all session cookies. */
  readonly cookies: readonly string[];
  /** The header by which the page shows that it signed in. */
  readonly publicHalf: string | undefined;
  /** Whether the cookie alone does not count: on http, every server of this machine can set it. */
  readonly needsHalf: boolean;
}

/** A session that counts, and who holds it. */
export interface ReadSession {
  readonly session: Session;
  readonly principal: Principal;
}

/** Several cookies of the name came: at least one of them was set by another page of this host. */
export class AmbiguousSessionError extends PlatformError {
  constructor(count: number) {
    super("credentials_invalid", `Cannot tell whose request this is: it has ${count} cookies of a session`);
  }
}

/**
 * Finds out whose session a request belongs to.
 * @throws PlatformError `credentials_invalid`, `provider_unavailable`
 */
export async function readSession(
  { cookies, publicHalf, needsHalf }: SessionProof,
  table: SessionTable,
  holders: SessionHolders,
): Promise<ReadSession> {
  const [secret = "", ...others] = cookies;
  if (others.length > 0) throw new AmbiguousSessionError(cookies.length);
  if (publicHalf === undefined && needsHalf) throw ended("its page did not sign in");
  const session = await table.find(secret);
  if (session === undefined) throw ended("its session is over");
  if (publicHalf !== undefined && !isSameText(publicHalf, session.publicHalf)) {
    throw ended("its page signed in to another session");
  }
  const principal = holders.holderOf(session, secret);
  if (principal === undefined) throw ended("its session is over");
  return { session, principal };
}

function ended(why: string): PlatformError {
  return new PlatformError("credentials_invalid", `Cannot answer this request: ${why}`);
}
