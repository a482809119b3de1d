import { createPublicKey } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { credentialFile } from "../../runtime/api/names.ts";
import { makeSigningKey } from "../../runtime/api/iam/signing-keys.ts";

/** A new key for tokens (PEM). */
export const newKeyPem = (): string => makeSigningKey("tokens");

/** The public half of a key (PEM). */
export function publicPem(privatePem: string): string {
  return createPublicKey(privatePem).export({ type: "spki", format: "pem" });
}

/** Writes the key files below a directory, each whole; without `previous` there is none. */
export async function writeKeyFiles(directory: string, current: string, previous?: string): Promise<void> {
  const previousFile = join(directory, credentialFile.previousIssuerKey);
  if (previous === undefined) await rm(previousFile, { force: true });
  else await writeWhole(previousFile, previous);
  await writeWhole(join(directory, credentialFile.issuerKey), current);
}

async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
