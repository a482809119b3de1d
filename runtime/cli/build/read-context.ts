import type { Dirent } from "node:fs";
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";

import { folderRules, ignoreFile } from "../../api/folders/folder-rules.ts";
import { parseIgnoreFile } from "../../api/folders/ignore-file.ts";
import { usageError } from "../cli-error.ts";
import { ContextBounds, type ContextEntry, type ContextPlace } from "./context-bounds.ts";

/** The data of a Weir, with its credentials. */
const platformData = ".weir";

/**
 * What a folder holds, less what the text of its `.dockerignore` leaves out, sorted by path.
 * @param failure beginning of error sentences: `Cannot build "hello"`
 * @throws CliError when it cannot be read, is too large, or a link leaves it
 */
export async function readContext(place: ContextPlace, failure: string): Promise<readonly ContextEntry[]> {
  const { directory, use } = place;
  const text = await ignoreText(place);
  const rules = folderRules(text);
  const builderRules = parseIgnoreFile(text);
  const bounds = new ContextBounds(place);
  const entries: ContextEntry[] = [];
  const walk = async (below: string): Promise<void> => {
    for (const found of await listed(join(directory, below), failure)) {
      const path = below === "" ? found.name : `${below}/${found.name}`;
      const isLeftOut = rules.ignores(path);
      if (use === "image" && found.name === platformData && found.isDirectory() && !builderRules.ignores(path))
        throw usageError(
          `${failure}: its folder holds "${path}", which has credentials, and an image would, too; list it in ${ignoreFile}`,
        );
      const entry = isLeftOut ? undefined : await entryOf(found, path, directory, failure);
      const fault = entry === undefined ? undefined : bounds.add(entry);
      if (fault !== undefined) throw usageError(`${failure}: ${fault}`);
      if (entry !== undefined) entries.push(entry);
      // Lines that begin with "!" take in nothing of what is left out without a line.
      if (found.isDirectory() && (!isLeftOut || (rules.hasExceptions && builderRules.ignores(path)))) await walk(path);
    }
  };
  await walk("");
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Builders prefer `<name of the Dockerfile>.dockerignore`. */
async function ignoreText({ directory, dockerfile }: ContextPlace): Promise<string> {
  const files = [...(dockerfile === undefined ? [] : [dockerfile + ignoreFile]), join(directory, ignoreFile)];
  for (const file of files) {
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text !== undefined) return text;
  }
  return "";
}

/** Undefined for what is none of them: builders and the local provider leave it out, too. */
async function entryOf(
  found: Dirent,
  path: string,
  directory: string,
  failure: string,
): Promise<ContextEntry | undefined> {
  const file = join(directory, path);
  try {
    if (found.isSymbolicLink()) return { kind: "link", path, target: await readlink(file) };
    if (!found.isFile() && !found.isDirectory()) return undefined;
    const { mode, size } = await lstat(file);
    const common = { path, mode: mode & 0o7777 };
    return found.isFile() ? { kind: "file", ...common, size } : { kind: "directory", ...common };
  } catch (err) {
    return unreadable(failure, path, err);
  }
}

async function listed(directory: string, failure: string): Promise<readonly Dirent[]> {
  return readdir(directory, { withFileTypes: true }).catch((err: unknown) => unreadable(failure, directory, err));
}

/** @throws CliError that says why a file or directory cannot be read */
export function unreadable(failure: string, path: string, err: unknown): never {
  const code = err instanceof Error && "code" in err ? err.code : undefined;
  throw usageError(`${failure}: cannot read "${path}": ${reasonOf(code) ?? String(err)}`);
}

function reasonOf(code: unknown): string | undefined {
  switch (code) {
    case "EACCES":
      return "this user has no right to";
    case "ENOENT":
      return "it is not there";
    case "ENOTDIR":
      return "it is no directory";
    default:
      return undefined;
  }
}
