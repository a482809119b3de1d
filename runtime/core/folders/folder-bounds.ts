import { posix } from "node:path";

import type { FolderEntry } from "../../api/folders/folder-content.ts";
import { folderLimits } from "../../api/folders/folder-rules.ts";
import { quote } from "../quote.ts";

const mebibyte = 1_048_576;

/**
 * Counts entries one by one. Each `add` returns what keeps the folder from being copied, as the state in an error
 * sentence: it holds too much, or a link leads out of it.
 */
export class FolderBounds {
  #files = 0;
  #directories = 0;
  #bytes = 0;

  add(entry: FolderEntry): string | undefined {
    const { files, directories, bytes } = folderLimits;
    if (entry.kind === "directory") this.#directories += 1;
    else this.#files += 1;
    if (entry.kind === "file") this.#bytes += entry.size;
    if (this.#files > files) return `it holds more than ${files} files; leave some out with .dockerignore`;
    if (this.#directories > directories)
      return `it holds more than ${directories} directories; leave some out with .dockerignore`;
    if (this.#bytes > bytes) return `it holds more than ${bytes / mebibyte} MiB; leave some out with .dockerignore`;
    return entry.kind === "link" ? linkFault(entry.path, entry.target) : undefined;
  }
}

/** An absolute link would lead back to the folder itself, and so to its later changes. */
function linkFault(path: string, target: string): string | undefined {
  const leaves = posix.isAbsolute(target) || /^\.\.(?:\/|$)/.test(posix.join(posix.dirname(path), target));
  return leaves ? `its link ${quote(path)} leads out of it, to ${quote(target)}` : undefined;
}
