import { folderRules } from "../../../api/folders/folder-rules.ts";

/** What editors leave for a moment, or until they end: backups, swap files, locks, vim's test of a directory. */
const leaving = /(?:~|\.sw[a-z]|^\.#.*|^#.*#|^4913)$/;

/** Directories whose content no person saves; history and a Weir's data are left out as in a snapshot. */
const unwatched: ReadonlySet<string> = new Set([".git", ".weir", "node_modules"]);

/** Which paths of a folder count as changes; paths are relative to it, with `/` between their parts. */
export interface WatchRules {
  /** Whether a change of this path is one of the function. */
  counts(path: string): boolean;
  /** Whether a directory may hold paths that count. */
  enters(path: string): boolean;
}

/** See {@link WatchRules}; `text` is that of the folder's `.dockerignore`. */
export function watchRules(text: string): WatchRules {
  const rules = folderRules(text);
  const isUnwatched = (path: string): boolean => path.split("/").some((part) => unwatched.has(part));
  return {
    counts: (path) => {
      const name = path.slice(path.lastIndexOf("/") + 1);
      return !isUnwatched(path) && !leaving.test(name) && !rules.ignores(path);
    },
    enters: (path) => !isUnwatched(path) && (!rules.ignores(path) || rules.hasExceptions),
  };
}
