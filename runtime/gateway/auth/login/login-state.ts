import { hkdfSync } from "node:crypto";
import { join } from "node:path";

import { EncryptJWT, errors, jwtDecrypt } from "jose";

import { credentialFile } from "../../../api/names.ts";
import { readKeyPair } from "../../access/tokens/key-pair.ts";

/** What a browser keeps while someone signs in at an issuer. */
export interface LoginState {
  /** Name of the JwtIssuer. */
  readonly issuer: string;
  readonly state: string;
  readonly nonce: string;
  /** PKCE: only who has it can use the issuer's code. */
  readonly verifier: string;
  /** Path to go to afterwards. */
  readonly to: string;
}

/** How long a sign-in may take, seconds. */
export const loginSeconds = 600;

/** Encrypts login states, so that a browser can keep them for any gateway of the platform. */
export interface LoginStates {
  seal(state: LoginState, now: number): Promise<string>;
  /** Undefined for anything that no gateway of this platform sealed in the last 10 minutes. */
  open(text: string, now: number): Promise<LoginState | undefined>;
}

const names = ["issuer", "state", "nonce", "verifier", "to"] as const;

/** Login states under keys that follow from those for tokens below `directory`, which all gateways share. */
export function loginStates(directory: string): LoginStates {
  const keys = (): Uint8Array[] =>
    [credentialFile.issuerKey, credentialFile.previousIssuerKey].flatMap((name) => {
      const privateKey = readKeyPair(join(directory, name))?.privateKey;
      if (privateKey === undefined) return [];
      const secret = privateKey.export({ format: "der", type: "pkcs8" });
      return [new Uint8Array(hkdfSync("sha256", secret, "", "weir login state", 32))];
    });
  return {
    async seal(state, now) {
      const [key] = keys();
      if (key === undefined) throw new Error(`there is no private key in "${directory}"`);
      const seconds = Math.floor(now / 1_000);
      return new EncryptJWT({ ...state })
        .setProtectedHeader({ alg: "dir", enc: "A256GCM", typ: "weir-login+jwt" })
        .setExpirationTime(seconds + loginSeconds)
        .encrypt(key);
    },
    async open(text, now) {
      for (const key of keys()) {
        const claims = await decrypted(text, key, now);
        if (claims !== undefined) return stateIn(claims);
      }
      return undefined;
    },
  };
}

async function decrypted(
  text: string,
  key: Uint8Array,
  now: number,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const { payload } = await jwtDecrypt(text, key, {
      keyManagementAlgorithms: ["dir"],
      contentEncryptionAlgorithms: ["A256GCM"],
      requiredClaims: ["exp"],
      currentDate: new Date(now),
    });
    return payload;
  } catch (err) {
    if (err instanceof errors.JOSEError) return undefined;
    throw err;
  }
}

function stateIn(claims: Readonly<Record<string, unknown>>): LoginState | undefined {
  const [issuer, state, nonce, verifier, to] = names
    .map((name) => claims[name])
    .filter((each) => typeof each === "string");
  if (
    issuer === undefined ||
    state === undefined ||
    nonce === undefined ||
    verifier === undefined ||
    to === undefined
  ) {
    return undefined;
  }
  return { issuer, state, nonce, verifier, to };
}
