import { join, posix, resolve, sep } from "node:path";

import { folderLimits, ignoreFile } from "../../api/folders/folder-rules.ts";

/** One thing in a folder; `path` is relative to it, with `/`; modes are permission bits. */
export type ContextEntry =
  | { readonly kind: "file"; readonly path: string; readonly mode: number; readonly size: number }
  | { readonly kind: "directory"; readonly path: string; readonly mode: number }
  | { readonly kind: "link"; readonly path: string; readonly target: string };

/** A folder, and what it is read for. Paths are absolute and real. */
export interface ContextPlace {
  readonly directory: string;
  /** `snapshot`: the local provider copies it. `image`: a builder sends it to its engine. */
  readonly use: "snapshot" | "image";
  /** Directory of `weir.yaml`, which links of an image's context must not leave. */
  readonly project: string;
  readonly dockerfile?: string;
}

/**
 * Counts entries one by one. Each `add` returns why the folder cannot be used, as the state in an error sentence: it
 * holds too much, a link leads out of it, or it holds credentials.
 */
export class ContextBounds {
  readonly #place: ContextPlace;
  #files = 0;
  #directories = 0;
  #bytes = 0;

  constructor(place: ContextPlace) {
    this.#place = place;
  }

  add(entry: ContextEntry): string | undefined {
    const { files, directories, bytes } = folderLimits;
    if (entry.kind === "directory") this.#directories += 1;
    else this.#files += 1;
    if (entry.kind === "file") this.#bytes += entry.size;
    const tooMuch = (what: string) => `its folder holds more than ${what}; list what it does not need in ${ignoreFile}`;
    if (this.#files > files) return tooMuch(`${files} files`);
    if (this.#directories > directories) return tooMuch(`${directories} directories`);
    if (this.#bytes > bytes) return tooMuch(`${bytes / 2 ** 20} MiB`);
    return entry.kind === "link" ? this.#linkFault(entry.path, entry.target) : undefined;
  }

  #linkFault(path: string, target: string): string | undefined {
    const { directory, project, use } = this.#place;
    const leadsTo = resolve(directory, posix.dirname(path), target);
    switch (use) {
      case "snapshot": {
        // An absolute link would lead from the copy back to the folder, and so to its later changes.
        const leaves = posix.isAbsolute(target) || !isWithin(leadsTo, directory);
        return leaves ? `link "${path}" leaves its folder, to "${target}"` : undefined;
      }
      case "image":
        return isWithin(leadsTo, project) ? undefined : `link "${path}" leaves the project, to "${target}"`;
      default:
        return use satisfies never;
    }
  }
}

/** Whether `path` is `directory` or below it; both are absolute. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(join(directory, sep));
}
