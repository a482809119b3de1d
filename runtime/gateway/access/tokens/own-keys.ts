import { randomUUID, type KeyObject } from "node:crypto";

import { SignJWT } from "jose";

import type { Claims } from "../../../core/access/claims.ts";
import { openKeyFiles } from "./key-files.ts";
import type { PublishedKey } from "./key-pair.ts";
import { ownTokenReader, ownTokenType } from "./own-token-reader.ts";
import type { SealingSecrets } from "./sealing-secrets.ts";
import type { OwnToken, TokenReader } from "./token-reader.ts";
import { workloadReader, type WorkloadReader } from "./workload-reader.ts";

/** Whole seconds since 1970. */
export interface TokenTimes {
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** The platform as an issuer of tokens. */
export interface OwnKeys {
  /** `iss` and `aud` of its tokens. */
  readonly issuer: string;
  /** The public keys by which they are verified. */
  keySet(): { readonly keys: readonly PublishedKey[] };
  /** A token of these claims, which the platform's own names are added to. */
  sign(kind: OwnToken["kind"], claims: Claims, times: TokenTimes): Promise<string>;
  /** Encrypts what browsers keep for the gateways of this platform. */
  sealing(): SealingSecrets;
  readonly reader: TokenReader;
  /** Absent where functions have no workload tokens of ours. */
  readonly workloads?: WorkloadReader | undefined;
}

export interface OwnKeyOptions {
  /** Where the key files are. */
  readonly directory: string;
  readonly issuer: string;
  /** The public half of the key that signs workload tokens of this machine, if functions have any. */
  readonly workloadKey?: KeyObject | undefined;
  readonly now?: () => number;
}

/**
 * Opens the platform's keys for tokens; a changed file counts within a second.
 * @throws PlatformError when the key is missing or unusable
 */
export function openOwnKeys({ directory, issuer, workloadKey, now = Date.now }: OwnKeyOptions): OwnKeys {
  const keys = openKeyFiles(directory, now);
  return {
    issuer,
    keySet: () => ({ keys: keys().published }),
    sign(kind, claims, { issuedAt, expiresAt }) {
      const { kid, key } = keys().signing;
      return new SignJWT({ ...claims })
        .setProtectedHeader({ alg: "ES256", kid, typ: ownTokenType[kind] })
        .setIssuer(issuer)
        .setAudience(issuer)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .setJti(randomUUID())
        .sign(key);
    },
    sealing: () => keys().sealing,
    reader: ownTokenReader(keys, issuer, now),
    workloads: workloadKey && workloadReader(workloadKey, issuer),
  };
}
