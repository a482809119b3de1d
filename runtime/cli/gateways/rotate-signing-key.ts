import { randomBytes } from "node:crypto";
import { link, rm, stat } from "node:fs/promises";
import { join } from "node:path";

import { makeSigningKey, signingKeys, type SigningKeyUse } from "../../api/iam/signing-keys.ts";
import { renameDurably, writeFileDurably } from "../../disk/durable-files.ts";

/**
 * Replaces a key in `directory` by a new one, and keeps it as the previous one. At no moment is there no current key.
 * Rejects when there is none to replace.
 */
export async function rotateSigningKey(directory: string, use: SigningKeyUse): Promise<void> {
  const { current, previous } = pathsOf(directory, use);
  const old = `${current}.${randomBytes(6).toString("hex")}.old`;
  try {
    await link(current, old);
    await renameDurably(old, previous);
    await writeFileDurably(current, `${makeSigningKey(use)}\n`);
  } finally {
    await rm(old, { force: true });
  }
}

/** The key in `directory` as it is before a rotation; undefined if there is none. */
export interface SigningKeyState {
  /** User id of whoever owns its file. */
  readonly owner: number;
  /** Milliseconds since 1970; the key before it is not needed some time after that. Undefined without such a key. */
  readonly rotatedAt: number | undefined;
}

/** See above. */
export async function signingKeyState(directory: string, use: SigningKeyUse): Promise<SigningKeyState | undefined> {
  const { current, previous } = pathsOf(directory, use);
  const [now, before] = await Promise.all([current, previous].map((path) => stat(path).catch(onlyAbsent)));
  if (now === undefined) return undefined;
  return { owner: now.uid, rotatedAt: before === undefined ? undefined : now.mtimeMs };
}

function onlyAbsent(err: unknown): undefined {
  if (!(err instanceof Error && "code" in err && err.code === "ENOENT")) throw err;
}

function pathsOf(directory: string, use: SigningKeyUse): { readonly current: string; readonly previous: string } {
  const { current, previous } = signingKeys[use];
  return { current: join(directory, current), previous: join(directory, previous) };
}
