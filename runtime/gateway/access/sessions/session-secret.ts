import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";

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

const cipher = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** Encrypts a text for the holder of a session's secret alone: the store that keeps it cannot read it. */
export function sealWith(secret: string, text: string): string {
  const nonce = randomBytes(nonceBytes);
  const sealing = createCipheriv(cipher, sealingKey(secret), nonce, { authTagLength: tagBytes });
  const sealed = Buffer.concat([sealing.update(text, "utf8"), sealing.final()]);
  return Buffer.concat([nonce, sealing.getAuthTag(), sealed]).toString("base64url");
}

/** The text that was sealed with that secret; undefined for any other. */
export function openWith(secret: string, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, "base64url");
  const [nonce, tag] = [bytes.subarray(0, nonceBytes), bytes.subarray(nonceBytes, nonceBytes + tagBytes)];
  try {
    const opening = createDecipheriv(cipher, sealingKey(secret), nonce, { authTagLength: tagBytes }).setAuthTag(tag);
    const text = Buffer.concat([opening.update(bytes.subarray(nonceBytes + tagBytes)), opening.final()]);
    return text.toString("utf8");
  } catch {
    return undefined;
  }
}

function sealingKey(secret: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, "", "weir refresh token", 32));
}
