import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A new P-256 key, as the platform's own are written (PEM). */
export function newKeyPem(): string {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" });
}

/** The public half of a key (PEM). */
export function publicPem(privatePem: string): string {
  return createPublicKey(privatePem).export({ type: "spki", format: "pem" });
}

/** Writes the key files below a directory, each whole; without `previous` there is none. */
export async function writeKeyFiles(directory: string, current: string, previous?: string): Promise<void> {
  const previousFile = join(directory, "issuer-key-previous.pem");
  if (previous === undefined) await rm(previousFile, { force: true });
  else await writeWhole(previousFile, previous);
  await writeWhole(join(directory, "issuer-key.pem"), current);
}

async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
