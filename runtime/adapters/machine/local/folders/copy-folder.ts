import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { chmod, lchown, mkdir, open, readlink, realpath, rm, symlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";

import type { FolderContent, FolderEntry } from "../../../../api/folders/folder-content.ts";
import { quote } from "../../../../core/quote.ts";
import { FolderUnusable } from "./folder-unusable.ts";
import { listFolder, type ListedEntry } from "./list-folder.ts";

/** How a folder is copied. */
export interface CopyOptions {
  /** Real path. */
  readonly from: string;
  /** A directory that does not exist; only this user may enter the one above it. */
  readonly to: string;
  /** The data directory of this Weir, which is left out. */
  readonly dataDirectory: string;
  /** Who may change the copy; undefined = nobody. */
  readonly writer: { readonly user: number | undefined } | undefined;
  readonly signal: AbortSignal;
}

/** Copies until none of the files changed meanwhile, but no more than so often. */
const mostAttempts = 3;
const parallel = 8;
/** Small, as the digest of a chunk is computed at once. */
const chunkSize = 65_536;

/**
 * Copies a folder without what is left out: directories 0755, files without write bits, links as they are.
 * @throws FolderUnusable when it holds too much, a link leads out of it, a file cannot be read or is never at rest
 */
export async function copyFolder(options: CopyOptions): Promise<readonly FolderContent[]> {
  const { from, to, dataDirectory, signal } = options;
  for (let attempt = 1; ; attempt += 1) {
    const listed = await listFolder(from, dataDirectory);
    try {
      const copied = await copyEntries(listed, options);
      if (attempt >= mostAttempts || isSame(listed, await listFolder(from, dataDirectory))) return copied;
    } catch (err) {
      signal.throwIfAborted();
      if (attempt >= mostAttempts || !(err instanceof FolderChanged)) throw err;
    }
    await rm(to, { recursive: true, force: true });
  }
}

/** Something was removed or replaced after it was listed. */
class FolderChanged extends FolderUnusable {
  constructor(path: string) {
    super(`its ${quote(path)} changes all the time`);
  }
}

function isSame(before: readonly ListedEntry[], after: readonly ListedEntry[]): boolean {
  const text = (listed: readonly ListedEntry[]): string => JSON.stringify(listed);
  return text(before) === text(after);
}

async function copyEntries(listed: readonly ListedEntry[], options: CopyOptions): Promise<readonly FolderContent[]> {
  const { to, writer, signal } = options;
  const own = async (path: string): Promise<void> => {
    if (writer?.user !== undefined) await lchown(path, writer.user, writer.user);
  };
  const makeDirectory = async (path: string): Promise<void> => {
    await mkdir(path);
    // Whatever the umask is.
    await chmod(path, 0o755);
    await own(path);
  };
  await makeDirectory(to);
  const copied: FolderContent[] = [];
  const files: (FolderEntry & { readonly kind: "file" })[] = [];
  for (const { entry } of listed) {
    if (entry.kind === "file") files.push(entry);
    else {
      const path = join(to, entry.path);
      if (entry.kind === "directory") await makeDirectory(path);
      else await symlink(entry.target, path).then(() => own(path));
      copied.push(entry);
    }
  }
  const rest = files.values();
  const copySome = async (): Promise<void> => {
    for (const file of rest) {
      signal.throwIfAborted();
      copied.push({ ...file, digest: await copyFile(file, options) });
    }
  };
  await Promise.all(Array.from({ length: parallel }, copySome));
  return copied;
}

/** The digest of what was copied: at most as much as was listed. */
async function copyFile(file: FolderEntry & { kind: "file" }, { from, to, writer }: CopyOptions): Promise<string> {
  const source = await openInside(from, file.path);
  try {
    const target = await open(join(to, file.path), "wx", 0o600);
    try {
      const digest = createHash("sha256");
      const chunk = Buffer.allocUnsafe(chunkSize);
      for (let left = file.size; left > 0;) {
        const { bytesRead } = await source.read(chunk, 0, Math.min(chunkSize, left));
        if (bytesRead === 0) break;
        digest.update(chunk.subarray(0, bytesRead));
        await target.appendFile(chunk.subarray(0, bytesRead));
        left -= bytesRead;
      }
      const mode = (file.executable ? 0o555 : 0o444) | (writer === undefined ? 0 : 0o200);
      await target.chmod(mode);
      if (writer?.user !== undefined) await target.chown(writer.user, writer.user);
      return digest.digest("hex");
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Opens a file of a folder whose owner may replace any part of the path by a link at any time. */
async function openInside(root: string, path: string): Promise<FileHandle> {
  const expected = join(root, path);
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(expected, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((err: unknown) => {
    const code = err instanceof Error && "code" in err ? String(err.code) : String(err);
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(code)) throw new FolderChanged(path);
    throw new FolderUnusable(`its ${quote(path)} cannot be read: ${code}`);
  });
  const actual = await readlink(`/proc/self/fd/${file.fd}`).catch(() => realpath(expected));
  if (actual === expected && (await file.stat()).isFile()) return file;
  await file.close();
  throw new FolderChanged(path);
}
