import { generateKeyPairSync, type KeyObject } from "node:crypto";

import { credentialFile } from "../names.ts";

/** A key pair that the platform signs with: its private key as PKCS #8, PEM, and the one before it. */
interface SigningKeyFiles {
  readonly current: string;
  readonly previous: string;
  readonly make: () => KeyObject;
}

/** The platform's signing keys by what they sign. */
export const signingKeys = {
  callbacks: {
    current: credentialFile.callbackKey,
    previous: credentialFile.previousCallbackKey,
    make: () => generateKeyPairSync("ed25519").privateKey,
  },
  tokens: {
    current: credentialFile.issuerKey,
    previous: credentialFile.previousIssuerKey,
    make: () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey,
  },
} as const satisfies Readonly<Record<string, SigningKeyFiles>>;

/** What one of the platform's keys signs. */
export type SigningKeyUse = keyof typeof signingKeys;

/** A new private key, as its file holds it. */
export function makeSigningKey(use: SigningKeyUse): string {
  return signingKeys[use].make().export({ type: "pkcs8", format: "pem" }).trim();
}
