import { EncryptJWT, errors, jwtDecrypt } from "jose";

import type { OwnKeys } from "../../access/tokens/own-keys.ts";

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

/** Login states under secrets that follow from the keys for tokens, which all gateways share. */
export function loginStates(keys: Pick<OwnKeys, "sealing">): LoginStates {
  return {
    async seal(state, now) {
      const seconds = Math.floor(now / 1_000);
      return new EncryptJWT({ ...state })
        .setProtectedHeader({ alg: "dir", enc: "A256GCM", typ: "weir-login+jwt" })
        .setExpirationTime(seconds + loginSeconds)
        .encrypt(keys.sealing().seal);
    },
    async open(text, now) {
      for (const secret of keys.sealing().open) {
        const claims = await decrypted(text, secret, now);
        if (claims !== undefined) return stateIn(claims);
      }
      return undefined;
    },
  };
}

async function decrypted(
  text: string,
  secret: Uint8Array,
  now: number,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const { payload } = await jwtDecrypt(text, secret, {
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
