import type { KeyObject } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";

import { credentialFile } from "../../../api/names.ts";
import { followFiles, textIfThere } from "../../../process/files/follow-files.ts";
import { readKeyPair, unusableKey, type PublishedKey } from "./key-pair.ts";
import { sealingSecret, type SealingSecrets } from "./sealing-secrets.ts";

/** The platform's keys at one time. */
export interface KeyRing {
  readonly signing: { readonly kid: string; readonly key: KeyObject };
  /** By kid; tokens of all of them are valid. The same map until a key changes. */
  readonly verifying: ReadonlyMap<string, KeyObject>;
  readonly published: readonly PublishedKey[];
  /** Derived when the keys are read; the one that seals follows from the key that signs. */
  readonly sealing: SealingSecrets;
}

/** The keys of the files at one time: until a new key has spread to all gateways, and from then on. */
interface KeyRings {
  readonly spreading: KeyRing;
  readonly spread: KeyRing;
}

/** Milliseconds in which a changed secret reaches all gateways of a cluster. */
const spreadTime = 120_000;
/** Milliseconds after a rotation in which a gateway that starts cannot tell whether the others know the new key. */
const unsureTime = 600_000;

/**
 * Reads the keys below `directory`: `issuer-key.pem` signs; `issuer-key-previous.pem`, if there is one, still verifies.
 * The returned function reads them again when a file has changed, at most once a second, and keeps the ones it has if
 * that fails.
 *
 * The other gateways may not know a new key yet. If the previous file holds a private key, that one signs and seals
 * until this process has known the new one for 2 minutes, unless the rotation was long before it started, by
 * `issuer-key-rotated` or else the time of the new key's file: what the key before signs ends when that key is dropped.
 * If the previous file holds a public key, the new one signs and seals at once.
 * @throws PlatformError `internal_error` when the key is missing or unusable at the start
 */
export function openKeyFiles(directory: string, now: () => number = Date.now): () => KeyRing {
  const [current, previous, rotated] = [
    credentialFile.issuerKey,
    credentialFile.previousIssuerKey,
    credentialFile.issuerKeyRotated,
  ].map((name) => join(directory, name)) as [string, string, string];
  const startedAt = now();
  // On one machine nothing but the file of the new key tells; on a cluster that is as old as its mount.
  const note = textIfThere(rotated);
  const rotatedAt = note === undefined ? statSync(current, { throwIfNoEntry: false })?.mtimeMs : Date.parse(note);
  let knownSince = startedAt - (rotatedAt ?? startedAt) > unsureTime ? Number.NEGATIVE_INFINITY : startedAt;
  let kid: string | undefined;
  const rings = followFiles(
    [current, previous],
    () => {
      const read = readRings(current, previous);
      if (kid !== undefined && read.spread.signing.kid !== kid) knownSince = now();
      ({ kid } = read.spread.signing);
      return read;
    },
    now,
  );
  return () => {
    const { spreading, spread } = rings();
    return spreading !== spread && Math.abs(now() - knownSince) < spreadTime ? spreading : spread;
  };
}

function readRings(currentFile: string, previousFile: string): KeyRings {
  const current = readKeyPair(currentFile);
  if (current === undefined) throw unusableKey(currentFile, "the file is missing");
  if (current.privateKey === undefined) throw unusableKey(currentFile, "expected a private key");
  const { kid } = current.published;
  const previous = readKeyPair(previousFile);
  const pairs = previous === undefined || previous.published.kid === kid ? [current] : [current, previous];
  const seal = sealingSecret(current.privateKey);
  const spread: KeyRing = {
    signing: { kid, key: current.privateKey },
    verifying: new Map(pairs.map(({ published, publicKey }) => [published.kid, publicKey])),
    published: pairs.map(({ published }) => published),
    sealing: { seal, open: [seal] },
  };
  const older = pairs[1];
  if (older?.privateKey === undefined) return { spreading: spread, spread };
  const olderSeal = sealingSecret(older.privateKey);
  const open = [seal, olderSeal];
  const signing = { kid: older.published.kid, key: older.privateKey };
  return {
    spreading: { ...spread, signing, sealing: { seal: olderSeal, open } },
    spread: { ...spread, sealing: { seal, open } },
  };
}
