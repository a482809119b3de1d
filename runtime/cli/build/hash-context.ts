import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import type { FolderContent } from "../../api/folders/folder-content.ts";
import { runLimited } from "../client/run-limited.ts";
import type { ContextEntry } from "./context-bounds.ts";
import { unreadable } from "./read-context.ts";

/** Larger files are hashed as they are read. */
const mostAtOnce = 1024 * 1024;
const filesAtOnce = 16;
const executableBits = 0o111;

/**
 * SHA-256 of a folder: of paths, modes and contents, in the order of `entries`. Times and owners do not count.
 * @throws CliError when a file cannot be read
 */
export async function hashContext(
  directory: string,
  entries: readonly ContextEntry[],
  failure: string,
): Promise<string> {
  const digests = await digestsOf(directory, entries, failure);
  return shaOf(JSON.stringify(entries.map((entry) => lineOf(entry, digests))));
}

/**
 * The entries as the local provider copies them.
 * @throws CliError when a file cannot be read
 */
export async function folderContent(
  directory: string,
  entries: readonly ContextEntry[],
  failure: string,
): Promise<readonly FolderContent[]> {
  const digests = await digestsOf(directory, entries, failure);
  return entries.map((entry) => {
    if (entry.kind !== "file") return entry;
    const { kind, path, size, mode } = entry;
    return { kind, path, size, executable: (mode & executableBits) !== 0, digest: digests.get(path) ?? "" };
  });
}

/** By path. */
async function digestsOf(
  directory: string,
  entries: readonly ContextEntry[],
  failure: string,
): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>();
  await runLimited(entries, filesAtOnce, async (entry) => {
    if (entry.kind === "file") digests.set(entry.path, await fileDigest(directory, entry, failure));
  });
  return digests;
}

/** The first 12 hex digits of the SHA-256 of `parts`, as a tag. */
export function contentTag(...parts: readonly unknown[]): string {
  return shaOf(JSON.stringify(parts)).slice(0, 12);
}

function lineOf(entry: ContextEntry, digests: ReadonlyMap<string, string>): readonly unknown[] {
  switch (entry.kind) {
    case "file":
      return [entry.path, entry.mode, digests.get(entry.path)];
    case "directory":
      return [entry.path, entry.mode];
    case "link":
      return [entry.path, entry.target];
    default:
      return entry satisfies never;
  }
}

async function fileDigest(
  directory: string,
  { path, size }: Extract<ContextEntry, { kind: "file" }>,
  failure: string,
): Promise<string> {
  const file = join(directory, path);
  const hash = createHash("sha256");
  try {
    if (size <= mostAtOnce) hash.update(await readFile(file));
    else for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) hash.update(chunk);
  } catch (err) {
    return unreadable(failure, path, err);
  }
  return hash.digest("hex");
}

function shaOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
