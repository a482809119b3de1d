import { parseDuration } from "../../runtime/api/duration.ts";
import type { Platform } from "../manifests/platform.ts";

const hour = 3_600_000;
const shortest = 24 * hour;
/** Until all processes have a new key, the one before goes on signing. */
const spread = hour;

/** How long a key is kept after its rotation, milliseconds: a day, or the longest life of a token if that is more. */
export function keyOverlap({ iam }: Pick<Platform, "iam">): number {
  const lives = Object.values(iam.issuers).map(({ tokenExpiry = "" }) => parseDuration(tokenExpiry) ?? 0);
  return Math.max(shortest, ...lives) + spread;
}
