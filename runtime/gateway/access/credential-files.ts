import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { credentialFile } from "../../api/names.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { followFiles } from "../../process/files/follow-files.ts";

/** SHA-256 of user and password: of equal length for texts of any length. */
export interface CredentialDigests {
  readonly user: Buffer;
  readonly password: Buffer;
}

/** Those of the administrator. */
export interface AdministratorDigests extends CredentialDigests {
  /** The password is so short or uniform that someone could find it by trying. */
  readonly isGuessable: boolean;
}

/** Characters, and different ones, that a password has which nobody finds by trying. */
const unguessable = { length: 20, distinct: 10 } as const;

/**
 * Reads the administrator's credentials below `directory`, trimmed. The returned function reads them again when a file
 * has changed, at most once a second, and keeps the previous ones if that fails.
 * @throws PlatformError `internal_error` when a file is missing or empty at the start
 */
export function openCredentialFiles(directory: string, now: () => number = Date.now): () => AdministratorDigests {
  const files = [join(directory, credentialFile.user), join(directory, credentialFile.password)] as const;
  const read = (): AdministratorDigests => {
    const user = digest(readText(files[0]));
    const password = readText(files[1]);
    return { user, password: digest(password), isGuessable: isGuessable(password) };
  };
  return followFiles(files, read, now);
}

/** SHA-256 of `text`. */
export function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function isGuessable(password: string): boolean {
  return password.length < unguessable.length || new Set(password).size < unguessable.distinct;
}

function readText(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw new PlatformError("internal_error", `Cannot read credentials "${path}": the file is missing or unreadable`, {
      cause,
    });
  }
  if (text === "") throw new PlatformError("internal_error", `Cannot read credentials "${path}": the file is empty`);
  return text;
}
