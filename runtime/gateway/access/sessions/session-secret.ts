import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

import type { CredentialDigests } from "../credential-files.ts";

const secretForm = /^[A-Za-z0-9_-]{43}$/;

/** 256 random bits, as text. */
export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** The key of a session in the store, which does not reveal the secret; undefined for a text that can be none. */
export function sessionKey(secret: string): string | undefined {
  return secretForm.test(secret) ? createHash("sha256").update(secret).digest("base64url") : undefined;
}

/** Digest of the administrator's credentials; without the session's secret, nobody can try passwords against it. */
export function credentialsDigest(secret: string, { user, password }: CredentialDigests): string {
  return createHmac("sha256", secret).update(user).update(password).digest("base64url");
}

/** Whether two texts are equal, in a time that does not depend on where they differ. */
export function isSameText(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
