import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, normalize, sep } from "node:path";

import { pathState } from "./read-text-file.ts";

/** A path of `weir.yaml` on this machine: absolute and without links, or why it cannot be used. */
export type ProjectPath =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "refused"; readonly state: string };

/**
 * Finds what a path of `weir.yaml` names. It is relative to `base`, a directory of the project, and no link in it leads
 * out of the project.
 * @param directory the project's directory
 */
export async function findProjectPath(
  directory: string,
  path: string,
  expected: "file" | "directory",
  base = "",
): Promise<ProjectPath> {
  const refused = (reason: string): ProjectPath => ({ kind: "refused", state: `${JSON.stringify(path)}: ${reason}` });
  if (isAbsolute(path)) return refused("a path must be relative to weir.yaml");
  const relative = normalize(join(base, path));
  if (relative === ".." || relative.startsWith(`..${sep}`)) return refused("it leads out of the project");
  try {
    const [root, found] = await Promise.all([realpath(directory), realpath(join(directory, relative))]);
    if (found !== root && !found.startsWith(root === sep ? sep : root + sep))
      return refused("its symbolic link leads out of the project");
    const there = await stat(found);
    if (expected === "file" ? !there.isFile() : !there.isDirectory()) return refused(`it is not a ${expected}`);
    return { kind: "found", path: found };
  } catch (err) {
    return refused(pathState(err));
  }
}
