import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";

import { PlatformError } from "../../../api/platform-error.ts";
import { textIfThere } from "../../../process/files/follow-files.ts";

/** The public half of a key (JWK), as it is published. */
export interface PublishedKey {
  readonly kty: "EC";
  readonly crv: "P-256";
  readonly x: string;
  readonly y: string;
  /** Its thumbprint (RFC 7638). */
  readonly kid: string;
  readonly alg: "ES256";
  readonly use: "sig";
}

/** A key of the platform, or only its public half. */
export interface KeyPair {
  readonly published: PublishedKey;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject | undefined;
}

/**
 * The P-256 key in a file (PEM), private or public; undefined when there is no such file.
 * @throws PlatformError `internal_error` when the file holds anything else
 */
export function readKeyPair(path: string): KeyPair | undefined {
  let pem: string | undefined;
  try {
    pem = textIfThere(path);
  } catch (cause) {
    throw unusableKey(path, "the file is unreadable", cause);
  }
  if (pem === undefined) return undefined;
  const [privateKey, publicKey] = keysIn(pem, path);
  const { kty, crv, x, y } = publicKey.export({ format: "jwk" });
  if (kty !== "EC" || crv !== "P-256" || x === undefined || y === undefined) {
    throw unusableKey(path, "expected a P-256 key");
  }
  // The required members in the order of their names.
  const kid = createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
  return { published: { kty, crv, x, y, kid, alg: "ES256", use: "sig" }, publicKey, privateKey };
}

/** The error for a file that holds no key of the kind that is needed. */
export function unusableKey(path: string, why: string, cause?: unknown): PlatformError {
  return new PlatformError("internal_error", `Cannot use key "${path}": ${why}`, { cause });
}

function keysIn(pem: string, path: string): [KeyObject | undefined, KeyObject] {
  try {
    if (!pem.includes("PRIVATE KEY-----")) return [undefined, createPublicKey(pem)];
    const privateKey = createPrivateKey(pem);
    return [privateKey, createPublicKey(privateKey)];
  } catch (cause) {
    throw unusableKey(path, "expected a P-256 key (PEM)", cause);
  }
}
