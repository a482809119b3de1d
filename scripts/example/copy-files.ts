import { cp } from "node:fs/promises";
import { basename, join } from "node:path";

/** The files of a function in one directory. */
export interface FunctionFiles {
  readonly directory: string;
  /** Directories of the npm packages that they import. */
  readonly packages: readonly string[];
}

const modules = "node_modules";

/** Copies the files to `target`, and the named packages below its `node_modules`; replaces existing files. */
export async function copyFiles({ directory, packages }: FunctionFiles, target: string): Promise<void> {
  const filter = (path: string): boolean => basename(path) !== modules;
  await cp(directory, target, { recursive: true, force: true, filter });
  for (const source of packages) {
    const name = source.slice(source.lastIndexOf(`${modules}/`) + modules.length + 1);
    await cp(source, join(target, modules, name), { recursive: true, force: true, dereference: true });
  }
}
