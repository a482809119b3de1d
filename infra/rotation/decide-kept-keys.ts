import { signingKeyOverlap } from "../../runtime/api/iam/signing-keys.ts";
import type { SigningKeys } from "../manifests/key-secrets.ts";

/** The keys that a Secret is to have. */
export interface KeptKeys {
  readonly keys: SigningKeys;
  /** Whether the key before last is given up although what it signed may still be valid. */
  readonly endsEarly: boolean;
}

/** Facts about the keys of a Secret; times in milliseconds. */
export interface KeyFacts {
  /** The key that is to be in force. */
  readonly current: string;
  /** What the cluster has. */
  readonly live: Partial<SigningKeys>;
  readonly now: number;
}

/**
 * If the cluster has another key in force, this is a rotation, which keeps that one as the key before. It is kept for
 * `signingKeyOverlap`, and removed by the first run after it.
 */
export function decideKeptKeys({ current, live, now }: KeyFacts): KeptKeys {
  const { current: inForce, previous, rotatedAt } = live;
  const isValid = previous !== undefined && (rotatedAt === undefined || now - rotatedAt < signingKeyOverlap);
  if (inForce === undefined) return { keys: { current }, endsEarly: false };
  if (inForce.trim() !== current.trim())
    return { keys: { current, previous: inForce, rotatedAt: now }, endsEarly: isValid };
  return { keys: isValid ? { current, previous, rotatedAt } : { current }, endsEarly: false };
}
