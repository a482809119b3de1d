import type { BigIntStats } from "node:fs";
import { lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

import { isIamFile } from "../../../api/iam/iam-files.ts";

/** Write permission of group and others. */
const othersWrite = 0o022n;

/** What a look at a directory of rules finds. */
export type RuleListing =
  | {
      readonly kind: "found";
      /** Another one if the path leads to another directory. */
      readonly identity: string;
      /** User id. */
      readonly owner: bigint;
      /** States of its files by name. */
      readonly files: ReadonlyMap<string, string>;
    }
  | { readonly kind: "refused" | "unreadable"; readonly sentence: string };

/** Looks at a directory and its files, without reading them. */
export async function listRuleFiles(directory: string): Promise<RuleListing> {
  try {
    const facts = await stat(directory, { bigint: true });
    if (!facts.isDirectory()) return { kind: "refused", sentence: "it is not a directory" };
    const refusal = writableByOthers(facts, directory);
    if (refusal !== undefined) return { kind: "refused", sentence: refusal };
    const names = (await readdir(directory)).filter(isIamFile).sort();
    const states = await Promise.all(names.map((name) => stateAt(join(directory, name))));
    const files = new Map(names.flatMap((name, index) => (states[index] === undefined ? [] : [[name, states[index]]])));
    return { kind: "found", identity: `${facts.dev}:${facts.ino}`, owner: facts.uid, files };
  } catch (err) {
    return { kind: "unreadable", sentence: readFailure(err) };
  }
}

/** Another text whenever anything about the file changed: its content, owner, mode or place. */
export function fileState({ dev, ino, size, mode, uid, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mode, uid, mtimeNs, ctimeNs].join(":");
}

/** Why a file or directory cannot be trusted; undefined if only its owner may write it. */
export function writableByOthers({ mode }: BigIntStats, path: string): string | undefined {
  if ((mode & othersWrite) === 0n) return undefined;
  const shown = (mode & 0o7777n).toString(8).padStart(4, "0");
  return `others than its owner may write it (mode ${shown}): run chmod go-w ${JSON.stringify(path)}`;
}

/** In words; the message of the system has the path in it, which stands in the fault already. */
export function readFailure(err: unknown): string {
  switch (codeOf(err)) {
    case "ENOENT":
      return "it does not exist";
    case "EACCES":
    case "EPERM":
      return "this user may not read it";
    case "ENOTDIR":
      return "it is not a directory";
    default:
      return `it cannot be read: ${err instanceof Error ? err.message : String(err)}`;
  }
}

/** The system's code of an error, e.g. `ENOENT`. */
export function codeOf(err: unknown): string | undefined {
  return err instanceof Error && "code" in err ? String(err.code) : undefined;
}

async function stateAt(path: string): Promise<string | undefined> {
  try {
    return fileState(await lstat(path, { bigint: true }));
  } catch (err) {
    // Gone since it was listed.
    if (codeOf(err) === "ENOENT") return undefined;
    throw err;
  }
}
