import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { credentialFile } from "../../api/names.ts";
import { PlatformError } from "../../api/platform-error.ts";

/** SHA-256 of user and password, equally long whatever the texts. */
export interface CredentialDigests {
  readonly user: Buffer;
  readonly password: Buffer;
}

/** Most often the files are looked at, milliseconds. */
const lookEvery = 1_000;

/**
 * Reads the administrator's credentials below `directory`, trimmed; the function it gives reads them again when a file
 * changed, at most once a second, and keeps the former ones when that fails.
 * @throws PlatformError `internal_error` when a file is missing or empty at the start
 */
export function openCredentialFiles(directory: string, now: () => number = Date.now): () => CredentialDigests {
  const files = [join(directory, credentialFile.user), join(directory, credentialFile.password)] as const;
  let version = versionOf(files);
  let digests = { user: digest(readText(files[0])), password: digest(readText(files[1])) };
  let looked = now();

  return () => {
    const time = now();
    if (time - looked < lookEvery) return digests;
    looked = time;
    try {
      const current = versionOf(files);
      if (current !== version) {
        digests = { user: digest(readText(files[0])), password: digest(readText(files[1])) };
        version = current;
      }
    } catch {
      // Half-way through an update of the files; the next look sees it whole.
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
