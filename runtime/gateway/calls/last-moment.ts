import type { Principal } from "../../core/access/principal.ts";

/** How long a stream may outlive the token that it began with, milliseconds (`security.md` §4). */
export const tokenGrace = 5 * 60_000;

/** When a stream of this caller ends at the latest, in milliseconds of `performance.now()`. */
export function lastMomentOf(principal: Pick<Principal, "expiresAt"> | undefined): number {
  const expiresAt = principal?.expiresAt;
  return expiresAt === undefined ? Number.POSITIVE_INFINITY : expiresAt + tokenGrace - Date.now() + performance.now();
}
