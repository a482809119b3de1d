import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { credentialFile } from "../../api/names.ts";
import { PlatformError } from "../../api/platform-error.ts";

/** SHA-256 of user and password: of equal length for texts of any length. */
export interface CredentialDigests {
  readonly user: Buffer;
  readonly password: Buffer;
}

/** Shortest time between two checks of the files, milliseconds. */
const checkInterval = 1_000;

/**
 * Reads the administrator's credentials below `directory`, trimmed. The returned function reads them again when a file
 * has changed, at most once a second, and keeps the previous ones if that fails.
 * @throws PlatformError `internal_error` when a file is missing or empty at the start
 */
export function openCredentialFiles(directory: string, now: () => number = Date.now): () => CredentialDigests {
  const files = [join(directory, credentialFile.user), join(directory, credentialFile.password)] as const;
  let version = versionOf(files);
  let digests = { user: digest(readText(files[0])), password: digest(readText(files[1])) };
  let checkedAt = now();

  return () => {
    const time = now();
    if (time - checkedAt < checkInterval) return digests;
    checkedAt = time;
    try {
      const current = versionOf(files);
      if (current !== version) {
        digests = { user: digest(readText(files[0])), password: digest(readText(files[1])) };
        version = current;
      }
    } catch {
      // The files are being updated; the next check sees all of them.
    }
    return digests;
  };
}

/** SHA-256 of `text`. */
export function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
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

function versionOf(files: readonly string[]): string {
  return files
    .map((path) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat === undefined ? "" : `${stat.ino}:${stat.mtimeMs}:${stat.size}`;
    })
    .join("|");
}
