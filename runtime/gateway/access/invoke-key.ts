import { timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { credentialFile } from "../../api/names.ts";
import { digest } from "./credential-files.ts";

/** Most often the file is looked at, milliseconds. */
const lookEvery = 1_000;

/**
 * Tells whether a text is the key below `directory` with which queue-workers call through the gateway, in constant time.
 * Without the file, or with an empty one, none is.
 */
export function openInvokeKey(directory: string, now: () => number = Date.now): (sent: string) => boolean {
  const file = join(directory, credentialFile.invokeKey);
  let known: Buffer | undefined;
  let looked = Number.NEGATIVE_INFINITY;
  return (sent) => {
    if (now() - looked >= lookEvery) {
      looked = now();
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
