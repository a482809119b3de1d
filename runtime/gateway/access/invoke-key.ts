import { timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { credentialFile } from "../../api/names.ts";
import { digest } from "./credential-files.ts";

/** Shortest time between two reads of the file, milliseconds. */
const readInterval = 1_000;

/**
 * Compares a text, in constant time, with the key below `directory` by which queue-workers call through the gateway. If
 * the file is missing or empty, no text matches.
 */
export function openInvokeKey(directory: string, now: () => number = Date.now): (sent: string) => boolean {
  const file = join(directory, credentialFile.invokeKey);
  let known: Buffer | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return (sent) => {
    if (now() - readAt >= readInterval) {
      readAt = now();
      known = readKey(file);
    }
    return known !== undefined && timingSafeEqual(digest(sent), known);
  };
}

function readKey(file: string): Buffer | undefined {
  try {
    const key = readFileSync(file, "utf8").trim();
    return key === "" ? undefined : digest(key);
  } catch {
    return undefined;
  }
}
