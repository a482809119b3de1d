import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { join } from "node:path";

import { credentialFile } from "../../api/names.ts";
import { PlatformError } from "../../api/platform-error.ts";

/** Texts of the files with the platform's callback key and the previous one; undefined for a file that is missing. */
export type CallbackKeyTexts = readonly (string | undefined)[];

/** Public keys as a JSON Web Key Set (RFC 7517). */
export interface CallbackKeySet {
  keys: { kty: string; kid: string; crv: string; x: string; alg: string; use: string }[];
}

const names = [credentialFile.callbackKey, credentialFile.previousCallbackKey] as const;

/** The files with the callback keys below `directory`, the current one first. */
export function callbackKeyFiles(directory: string): readonly string[] {
  return names.map((name) => join(directory, name));
}

/**
 * The private keys (PEM), the current one first.
 * @throws PlatformError `internal_error` when the current one is missing, or one of them is no Ed25519 key
 */
export function readCallbackKeys(texts: CallbackKeyTexts): readonly KeyObject[] {
  if (texts[0] === undefined) throw unusable(names[0], "the file is missing");
  return read(texts, createPrivateKey);
}

/**
 * The public keys, each from its own file or that of its private key (PEM); empty where callbacks have none.
 * @throws PlatformError `internal_error` when a file holds no Ed25519 key
 */
export function callbackKeySet(texts: CallbackKeyTexts): CallbackKeySet {
  return { keys: read(texts, createPublicKey).map(publicJwk) };
}

function read(texts: CallbackKeyTexts, create: (pem: string) => KeyObject): KeyObject[] {
  return texts.flatMap((pem, index) => (pem === undefined ? [] : [readKey(names[index] ?? "", pem, create)]));
}

function readKey(name: string, pem: string, create: (pem: string) => KeyObject): KeyObject {
  let key: KeyObject;
  try {
    key = create(pem);
  } catch (cause) {
    throw unusable(name, "it holds no such key in PEM", cause);
  }
  if (key.asymmetricKeyType !== "ed25519") throw unusable(name, "its key is not of type Ed25519");
  return key;
}

function publicJwk(key: KeyObject): CallbackKeySet["keys"][number] {
  const { x = "" } = key.export({ format: "jwk" });
  const [kty, crv] = ["OKP", "Ed25519"] as const;
  // RFC 7638: the required members alone, in the order of their names.
  const kid = createHash("sha256").update(JSON.stringify({ crv, kty, x })).digest("base64url");
  return { kty, kid, crv, x, alg: "EdDSA", use: "sig" };
}

function unusable(name: string, why: string, cause?: unknown): PlatformError {
  return new PlatformError("internal_error", `Cannot use the key of callbacks "${name}": ${why}`, { cause });
}
