import { parseIgnoreFile, type IgnoreRules } from "./ignore-file.ts";

/** Most that a folder may hold from which a function is run; files are those that are not left out, and links. */
export const folderLimits = { files: 20_000, directories: 20_000, bytes: 512 * 1_048_576 } as const;

/** The file in a folder that says what is left out. */
export const ignoreFile = ".dockerignore";

/** Directories that are left out wherever they are: history, and the data of a Weir. */
const leftOut: ReadonlySet<string> = new Set([".git", ".weir"]);

/** What is left out of a folder whose `.dockerignore` has this text. */
export function folderRules(text: string): IgnoreRules {
  const { ignores, hasExceptions } = parseIgnoreFile(text);
  const isLeftOut = (path: string): boolean => path.split("/").some((part) => leftOut.has(part));
  return { hasExceptions, ignores: (path) => isLeftOut(path) || ignores(path) };
}
