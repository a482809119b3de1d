import type { KeyObject } from "node:crypto";

import { callbackKeyFiles, readCallbackKeys } from "../../core/callbacks/callback-keys.ts";
import { followFiles, textIfThere } from "../../process/files/follow-files.ts";

/**
 * The platform's private keys for callbacks below `directory`, the current one first, as they are now.
 * @throws PlatformError `internal_error` when the current one is missing or unusable at the start
 */
export function openCallbackKeys(directory: string): () => readonly KeyObject[] {
  const files = callbackKeyFiles(directory);
  return followFiles(files, () => readCallbackKeys(files.map(textIfThere)));
}
