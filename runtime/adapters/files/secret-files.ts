import { constants } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";

import { grammarRule, isNamespaceName, isSecretName } from "../../api/grammar.ts";
import { PlatformError } from "../../api/platform-error.ts";
import type { SecretRef } from "../../core/ports/secret-store.ts";
import { quote } from "../../core/quote.ts";

const { O_NOFOLLOW, O_RDONLY } = constants;

/**
 * Path of a secret below `directory`: `<namespace>/<name>`.
 * @throws PlatformError `validation_failed` for names that break the grammar
 */
export function secretPath(directory: string, { namespace, name }: SecretRef): string {
  if (!isSecretName(name))
    throw new PlatformError("validation_failed", `Cannot use secret ${quote(name)}: ${grammarRule.secret}`);
  return join(namespacePath(directory, namespace), name);
}

/** @throws PlatformError `validation_failed` for a name that breaks the grammar */
export function namespacePath(directory: string, namespace: string): string {
  if (isNamespaceName(namespace)) return join(directory, namespace);
  throw new PlatformError("validation_failed", `Cannot use namespace ${quote(namespace)}: ${grammarRule.namespace}`);
}

/** The bytes of a secret, or undefined when there is none; symbolic links are not followed. */
export async function readSecret(path: string): Promise<Buffer | undefined> {
  const file = await open(path, O_RDONLY | O_NOFOLLOW).catch(absent);
  if (file === undefined) return undefined;
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Whether there is a regular file at `path`; a symbolic link does not count. */
export async function secretExists(path: string): Promise<boolean> {
  return (await lstat(path).catch(absent))?.isFile() === true;
}

/** Names of the secrets in `directory`, sorted. */
export async function secretNames(directory: string): Promise<string[]> {
  const entries = (await readdir(directory, { withFileTypes: true }).catch(absent)) ?? [];
  return entries
    .filter((entry) => entry.isFile() && isSecretName(entry.name))
    .map(({ name }) => name)
    .sort();
}

function absent(err: NodeJS.ErrnoException): undefined {
  if (err.code === "ENOENT") return undefined;
  throw err;
}
