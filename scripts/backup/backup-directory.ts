import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";

import { Type, type Static } from "typebox";
import { Check } from "typebox/value";

import { renameDurably, syncDirectory } from "../../runtime/disk/durable-files.ts";
import { StreamFacts } from "./api-answer.ts";

const indexName = "backup.json";

export const BackedUpStream = Type.Object({
  name: Type.String({ pattern: "^[A-Za-z0-9_-]+$" }),
  file: Type.String({ pattern: "^[A-Za-z0-9_-]+\\.snapshot$" }),
  bytes: Type.Number(),
  sha256: Type.String(),
  takenAt: Type.String(),
  ...StreamFacts.properties,
});
export type BackedUpStream = Static<typeof BackedUpStream>;

/** A file of the history. */
export const BackedUpFile = Type.Object({
  file: Type.String({ pattern: "^[a-z]+\\.db$" }),
  bytes: Type.Number(),
  sha256: Type.String(),
  takenAt: Type.String(),
});
export type BackedUpFile = Static<typeof BackedUpFile>;

/** Content of `backup.json`; streams in the order in which they were backed up. */
export const BackupIndex = Type.Object({
  format: Type.Literal(1),
  weir: Type.String(),
  natsServer: Type.String(),
  begun: Type.String(),
  ended: Type.String(),
  streams: Type.Array(BackedUpStream),
  /** Absent in backups without a history. */
  history: Type.Optional(Type.Array(BackedUpFile)),
});
export type BackupIndex = Static<typeof BackupIndex>;

/** A backup that is being written, to a temporary directory until it is complete. */
export interface WrittenBackup extends AsyncDisposable {
  /** Writes one file of mode 0600; resolves when it is on the disk. */
  write(file: string, fill: (append: (chunk: Uint8Array) => Promise<void>) => Promise<void>): Promise<FileFacts>;
  /** Lets `create` make one file at a path, and gives it mode 0600; resolves when it is on the disk. */
  adopt(file: string, create: (path: string) => void): Promise<FileFacts>;
  /** Writes the index and renames the directory to its final path. */
  finish(index: BackupIndex): Promise<void>;
}

export interface FileFacts {
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Begins a backup that will be at `path`; what was written is removed if it is not finished.
 * @throws Error when something exists there
 */
export async function writeBackup(path: string): Promise<WrittenBackup> {
  const target = resolve(path);
  const existing = await readdir(target).catch(() => []);
  if (
    existing.length > 0 ||
    (await stat(target).then(
      (found) => !found.isDirectory(),
      () => false,
    ))
  )
    throw new Error(`Cannot write a backup to "${path}": something exists there; name a directory that does not exist`);
  const temporary = await mkdtemp(`${target}.partial-`).catch((cause: unknown) => {
    throw new Error(`Cannot write a backup to "${path}": ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  });
  const write: WrittenBackup["write"] = async (file, fill) => {
    const handle = await open(join(temporary, file), "wx", 0o600);
    const hash = createHash("sha256");
    let bytes = 0;
    try {
      await fill(async (chunk) => {
        hash.update(chunk);
        bytes += chunk.length;
        await handle.writeFile(chunk);
      });
      await handle.sync();
    } finally {
      await handle.close();
    }
    return { bytes, sha256: hash.digest("hex") };
  };
  const adopt: WrittenBackup["adopt"] = async (file, create) => {
    const place = join(temporary, file);
    create(place);
    const handle = await open(place);
    try {
      await handle.chmod(0o600);
      await handle.sync();
      return { bytes: (await handle.stat()).size, sha256: (await hashOf(place)) ?? "" };
    } finally {
      await handle.close();
    }
  };
  return {
    write,
    adopt,
    finish: async (index) => {
      await write(indexName, (append) => append(Buffer.from(`${JSON.stringify(index, undefined, 2)}\n`)));
      await syncDirectory(temporary);
      await renameDurably(temporary, target);
    },
    [Symbol.asyncDispose]: () => rm(temporary, { recursive: true, force: true }),
  };
}

/**
 * The index of the backup at `path`, after every file was compared with its hash.
 * @throws Error when it is not a backup, or a file is missing or changed
 */
export async function readBackup(path: string): Promise<BackupIndex> {
  const text = await readFile(join(path, indexName), "utf8").catch((cause: unknown) => {
    throw new Error(`Cannot restore from "${path}": there is no ${indexName} in it, so it is not a complete backup`, {
      cause,
    });
  });
  const index = parse(text);
  if (!Check(BackupIndex, index))
    throw new Error(`Cannot restore from "${path}": its ${indexName} is damaged, or of another release of Weir`);
  for (const { file, sha256: written } of [...index.streams, ...(index.history ?? [])]) {
    const sha256 = await hashOf(join(path, file));
    if (sha256 === undefined) throw new Error(`Cannot restore from "${path}": file "${file}" is missing`);
    if (sha256 !== written)
      throw new Error(`Cannot restore from "${path}": file "${file}" is not what was written; take another backup`);
  }
  return index;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function hashOf(file: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk);
  } catch (err) {
    if (err instanceof Error && "code" in err && err.code === "ENOENT") return undefined;
    throw err;
  }
  return hash.digest("hex");
}
