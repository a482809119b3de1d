import { generateKeyPairSync, type KeyObject } from "node:crypto";

import { credentialFile } from "../names.ts";

/** A key pair that the platform signs with: its private key as PKCS #8, PEM, and the one before it. */
interface SigningKeyFiles {
  readonly current: string;
  readonly previous: string;
  /** When the current one replaced the one before, as text (RFC 3339); on a cluster only. */
  readonly rotated: string;
  readonly make: () => KeyObject;
}

/** The platform's signing keys by what they sign. */
export const signingKeys = {
  callbacks: {
    current: credentialFile.callbackKey,
    previous: credentialFile.previousCallbackKey,
    rotated: "callback-key-rotated",
    make: () => generateKeyPairSync("ed25519").privateKey,
  },
  tokens: {
    current: credentialFile.issuerKey,
    previous: credentialFile.previousIssuerKey,
    rotated: credentialFile.issuerKeyRotated,
    make: () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey,
  },
} as const satisfies Readonly<Record<string, SigningKeyFiles>>;

/** What one of the platform's keys signs. */
export type SigningKeyUse = keyof typeof signingKeys;

/**
 * How long the previous key is needed after a rotation, milliseconds. What it signed counts for a day at most: no token
 * lives longer, and receivers of callbacks may keep public keys that long. It still signs until all gateways know the
 * new key, and clocks differ: an hour covers both.
 */
export const signingKeyOverlap = 25 * 3_600_000;

/** A new private key, as its file holds it. */
export function makeSigningKey(use: SigningKeyUse): string {
  return signingKeys[use].make().export({ type: "pkcs8", format: "pem" }).trim();
}
