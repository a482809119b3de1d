import { createPublicKey } from "node:crypto";

import { signingKeys, type SigningKeyUse } from "../../runtime/api/iam/signing-keys.ts";
import { credentialFile } from "../../runtime/api/names.ts";
import { platformSecret } from "./names.ts";
import type { Platform } from "./platform.ts";
import type { CredentialSource } from "./processes/process-deployment.ts";

/** A Secret with a key that signs. */
export type KeySecret = typeof platformSecret.issuerKey | typeof platformSecret.callbackKey;

/** A key that signs, and what is kept of its last rotation. Keys are PKCS #8 PEM. */
export interface SigningKeys {
  readonly current: string;
  /** The key before: what it signed is valid still, and it may sign until all processes know the current one. */
  readonly previous?: string | undefined;
  /** Milliseconds since 1970. */
  readonly rotatedAt?: number | undefined;
}

/** What the key of each such Secret signs. */
export const keySecretUse: Readonly<Record<KeySecret, SigningKeyUse>> = {
  [platformSecret.issuerKey]: "tokens",
  [platformSecret.callbackKey]: "callbacks",
};

/** Public halves in the Secret of the callback key: gateways have them under the names of the private ones. */
const publicFile = { current: "callback-key-public.pem", previous: "callback-key-previous-public.pem" } as const;

/** The Secrets with keys that the platform's edition needs. */
export function keySecretsOf({ hasIam }: Pick<Platform, "hasIam">): KeySecret[] {
  return [platformSecret.callbackKey, ...(hasIam ? [platformSecret.issuerKey] : [])];
}

export function isKeySecret(name: string): name is KeySecret {
  return Object.hasOwn(keySecretUse, name);
}

/**
 * The files of a key's Secret.
 * @throws Error when a callback key is no PEM
 */
export function keyFiles(
  secret: KeySecret,
  { current, previous, rotatedAt }: SigningKeys,
): Readonly<Record<string, string>> {
  const names = signingKeys[keySecretUse[secret]];
  const isPublished = secret === platformSecret.callbackKey;
  return {
    [names.current]: current,
    ...(isPublished ? { [publicFile.current]: publicHalf(current) } : {}),
    ...(previous === undefined ? {} : { [names.previous]: previous }),
    ...(previous === undefined || !isPublished ? {} : { [publicFile.previous]: publicHalf(previous) }),
    ...(rotatedAt === undefined ? {} : { [names.rotated]: new Date(rotatedAt).toISOString() }),
  };
}

/** The inverse of `keyFiles`, as far as there are such files. */
export function keysIn(secret: KeySecret, files: Readonly<Record<string, string>>): Partial<SigningKeys> {
  const names = signingKeys[keySecretUse[secret]];
  const { [names.current]: current, [names.previous]: previous, [names.rotated]: rotated } = files;
  const rotatedAt = Date.parse(rotated ?? "");
  return {
    ...(current === undefined ? {} : { current }),
    ...(previous === undefined ? {} : { previous }),
    ...(Number.isNaN(rotatedAt) ? {} : { rotatedAt }),
  };
}

function publicHalf(pem: string): string {
  try {
    return createPublicKey(pem).export({ type: "spki", format: "pem" });
  } catch (cause) {
    throw new Error(`Cannot make secret "${platformSecret.callbackKey}": its key is no PEM`, { cause });
  }
}

/** What queue-workers sign callbacks with. */
export const privateCallbackKeys = callbackKeySources(credentialFile.callbackKey, credentialFile.previousCallbackKey);

/** What gateways publish of it. */
export const publicCallbackKeys = callbackKeySources(publicFile.current, publicFile.previous);

/** The key before exists only after a rotation. */
function callbackKeySources(current: string, previous: string): readonly CredentialSource[] {
  const name = platformSecret.callbackKey;
  return [
    { name, items: [{ key: current, path: credentialFile.callbackKey }] },
    { name, items: [{ key: previous, path: credentialFile.previousCallbackKey }], optional: true },
  ];
}
