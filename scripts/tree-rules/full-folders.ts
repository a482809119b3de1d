import { dirname } from "node:path";

/** Most TypeScript files in one folder. */
const maxFiles = 20;
/** Contains one file for each port and nothing else, so that more files are not a second concept. */
const exempt: ReadonlySet<string> = new Set(["runtime/core/ports"]);

/** Folders with too many files, a sentence each. */
export function fullFolders(paths: readonly string[]): string[] {
  return [...Map.groupBy(paths, (path) => dirname(path))]
    .filter(([folder, files]) => files.length > maxFiles && !exempt.has(folder))
    .map(([folder, files]) => `${folder} holds ${files.length} files, more than ${maxFiles}: give it rooms by concept`)
    .toSorted();
}
