import { rm } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

import { folderTag, type FolderContent } from "../../../../api/folders/folder-content.ts";
import { copyFolder, type CopyOptions } from "./copy-folder.ts";

/** Milliseconds for which the folder may hold something else than what was deployed. */
const usualPatience = 2_000;
const betweenCopies = 50;

/**
 * Copies a folder as it was when it was deployed, as `tag` says. A file that is being saved again is empty for a
 * moment: a copy of that would run until something else is deployed. What stays different is copied as it is.
 * @throws FolderUnusable as `copyFolder` does
 */
export async function copyAsDeployed(
  options: CopyOptions,
  tag: string | undefined,
  patience = usualPatience,
): Promise<readonly FolderContent[]> {
  const until = performance.now() + patience;
  for (;;) {
    const copied = await copyFolder(options);
    if (tag === undefined || folderTag(copied) === tag || performance.now() >= until) return copied;
    await rm(options.to, { recursive: true, force: true });
    await pause(betweenCopies, undefined, { signal: options.signal });
  }
}
