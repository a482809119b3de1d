import { dirname } from "node:path";

/** Most files of TypeScript in one folder. */
const most = 20;
/** One file for each port, and for nothing else: more of them are no second idea. */
const exempt: ReadonlySet<string> = new Set(["runtime/core/ports"]);

/** Folders that hold too much, a sentence each. */
export function fullFolders(paths: readonly string[]): string[] {
  return [...Map.groupBy(paths, (path) => dirname(path))]
    .filter(([folder, files]) => files.length > most && !exempt.has(folder))
    .map(([folder, files]) => `${folder} holds ${files.length} files, more than ${most}: give it rooms by concept`)
    .toSorted();
}
