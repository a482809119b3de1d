import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";

import type { FolderEntry } from "../../../../api/folders/folder-content.ts";
import { folderRules, ignoreFile } from "../../../../api/folders/folder-rules.ts";
import { parseIgnoreFile, type IgnoreRules } from "../../../../api/folders/ignore-file.ts";
import { FolderBounds } from "../../../../core/folders/folder-bounds.ts";
import { FolderUnusable } from "./folder-unusable.ts";

/** An entry as it was found. */
export interface ListedEntry {
  readonly entry: FolderEntry;
  /** Differs when the file was written, or replaced, meanwhile. */
  readonly stamp: string;
}

const mostIgnoreBytes = 1_048_576;
const executableBits = 0o111n;

/**
 * What is in the folder and not left out, directories before what they hold. `dataDirectory`, which may lie in it, is
 * left out.
 * @throws FolderUnusable when it holds too much, or a link leads out of it
 */
export async function listFolder(root: string, dataDirectory: string): Promise<readonly ListedEntry[]> {
  const text = await ignoreText(join(root, ignoreFile));
  const bounds = new FolderBounds();
  const add = (listed: ListedEntry): ListedEntry => {
    const fault = bounds.add(listed.entry);
    if (fault !== undefined) throw new FolderUnusable(fault);
    return listed;
  };
  const listing = { root, dataDirectory, rules: folderRules(text), lines: parseIgnoreFile(text), add };
  return await listBelow("", listing);
}

interface Listing {
  readonly root: string;
  readonly dataDirectory: string;
  readonly rules: IgnoreRules;
  /** Those of the `.dockerignore` alone: its exceptions take in nothing of what is left out without a line. */
  readonly lines: IgnoreRules;
  readonly add: (listed: ListedEntry) => ListedEntry;
}

async function listBelow(directory: string, listing: Listing): Promise<ListedEntry[]> {
  const { root, rules, lines, dataDirectory, add } = listing;
  const found = await readdir(join(root, directory), { withFileTypes: true });
  // Sockets and devices are no content.
  const kept = found.filter((each) => each.isDirectory() || each.isFile() || each.isSymbolicLink());
  const paths = kept.map((each) => ({
    path: directory === "" ? each.name : `${directory}/${each.name}`,
    isDirectory: each.isDirectory(),
  }));
  const files = paths.filter(({ path, isDirectory }) => !isDirectory && !rules.ignores(path));
  const listed: ListedEntry[] = [];
  // In portions: one after the other takes long, and a limit may be exceeded at once.
  for (let at = 0; at < files.length; at += portion)
    for (const one of await Promise.all(files.slice(at, at + portion).map(({ path }) => listFile(root, path))))
      listed.push(add(one));
  for (const { path, isDirectory } of paths) {
    if (!isDirectory || join(root, path) === dataDirectory) continue;
    const ignored = rules.ignores(path);
    if (ignored && !(lines.hasExceptions && lines.ignores(path))) continue;
    const below = await listBelow(path, listing);
    if (!ignored || below.length > 0) listed.push(add({ entry: { kind: "directory", path }, stamp: "" }), ...below);
  }
  return listed;
}

const portion = 64;

async function listFile(root: string, path: string): Promise<ListedEntry> {
  const found = await lstat(join(root, path), { bigint: true });
  if (found.isSymbolicLink()) {
    const target = await readlink(join(root, path));
    return { entry: { kind: "link", path, target }, stamp: "" };
  }
  const executable = (found.mode & executableBits) !== 0n;
  const entry = { kind: "file", path, size: Number(found.size), executable } as const;
  return { entry, stamp: `${found.dev} ${found.ino} ${found.mtimeNs} ${found.ctimeNs}` };
}

async function ignoreText(file: string): Promise<string> {
  const found = await lstat(file).catch(() => undefined);
  return found?.isFile() === true && found.size <= mostIgnoreBytes ? await readFile(file, "utf8") : "";
}
