import { rm, stat } from "node:fs/promises";
import { join } from "node:path";

import { signingKeys, type SigningKeyUse } from "../api/iam/signing-keys.ts";

/** Removes the previous key if the current one was made more than `overlap` milliseconds before `now`. */
export async function dropPreviousKey(
  directory: string,
  use: SigningKeyUse,
  { overlap, now }: { readonly overlap: number; readonly now: number },
): Promise<void> {
  const { current, previous } = signingKeys[use];
  const { mtimeMs } = await stat(join(directory, current));
  if (now - mtimeMs > overlap) await rm(join(directory, previous), { force: true });
}
