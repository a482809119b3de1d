import { constants } from "node:fs";
import {
  chmod,
  copyFile,
  link,
  lchown,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  symlink,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";

import { dependencySteps } from "../../../../core/folders/dependency-steps.ts";
import { formatRef, type FunctionRef } from "../../../../core/functions/function-ref.ts";
import type { ReplicaFailure } from "../../../../core/replicas/reconcile-backoff.ts";
import { renameDurably, syncTree } from "../../../../disk/durable-files.ts";
import { removeTree } from "../remove-tree.ts";
import { sealSnapshot } from "./seal-snapshot.ts";

/** Suffix of what is still being written. */
const unfinished = ".new";
/** Entries of one directory at a time. */
const portion = 64;
/** Bytes of a file whose text may name the snapshot that it was made in. */
const maxTextSize = 262_144;

/** The commands of a function's folder, and where they run. */
export interface Preparation {
  readonly commands: readonly string[];
  readonly snapshot: string;
  /** Who owns the snapshot meanwhile; undefined = the user of this process. */
  readonly user: number | undefined;
  /** Why one of them failed, if one did. */
  readonly run: (commands: readonly string[]) => Promise<ReplicaFailure | undefined>;
}

/**
 * What the installation of dependencies added to a snapshot, kept for the next one of the same function: one tree a
 * function, found by a key. All of it belongs to this process, so that links to its files can be shared. A failure costs
 * time alone, as the commands run again.
 */
export class KeptDependencies {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Removes what an earlier process left half done, and what belongs to no function of `refs`. */
  async clean(refs: readonly FunctionRef[]): Promise<void> {
    const known = new Set(refs.map(formatRef));
    for (const name of await readdir(this.#directory).catch(() => []))
      if (!known.has(name)) await removeTree(join(this.#directory, name));
  }

  forget(ref: FunctionRef): Promise<void> {
    return removeTree(join(this.#directory, formatRef(ref)));
  }

  /**
   * Runs the commands of a function in a snapshot that `user` may write to, less those that installed the same
   * dependencies the last time: what these made is laid into it. It is sealed meanwhile, as replicas of the same user
   * run. The result is why a command failed.
   */
  async prepare(ref: FunctionRef, { commands, snapshot, user, run }: Preparation): Promise<ReplicaFailure | undefined> {
    const steps = await dependencySteps(ref, commands, (path) => textIn(join(snapshot, path)));
    if (steps === undefined) return run(commands);
    const shared = steps.rest.length === 0 && user !== undefined;
    const before = new Set(await readdir(snapshot, { recursive: true }));
    await sealSnapshot(snapshot, user);
    if (!(await this.#lay(ref, steps.key, { snapshot, shared }))) {
      await unsealSnapshot(snapshot, user);
      const failure = await run(steps.install);
      if (failure !== undefined) return failure;
      await sealSnapshot(snapshot, user);
      await this.#keep(ref, steps.key, { snapshot, before, shared });
    }
    if (steps.rest.length === 0) return undefined;
    await unsealSnapshot(snapshot, user);
    return run(steps.rest);
  }

  /**
   * Keeps what `snapshot` has beyond `before`, which are its paths before the installation. The snapshot is sealed.
   * With `shared` its files are the kept ones: nobody changes them any more.
   */
  async #keep(
    ref: FunctionRef,
    key: string,
    {
      snapshot,
      before,
      shared,
    }: { readonly snapshot: string; readonly before: ReadonlySet<string>; readonly shared: boolean },
  ): Promise<void> {
    const own = join(this.#directory, formatRef(ref));
    const draft = join(own, key + unfinished);
    try {
      await removeTree(own);
      await mkdir(join(draft, "content"), { recursive: true, mode: 0o700 });
      await writeFile(join(draft, "made-in"), snapshot, { mode: 0o600 });
      const lay = { from: snapshot, to: join(draft, "content"), shared, isAdded: (path: string) => !before.has(path) };
      await layTree(lay);
      // Its name promises its content, after a power cut as well.
      await syncTree(draft);
      await renameDurably(draft, join(own, key));
    } catch {
      await removeTree(own).catch(() => {});
    }
  }

  /**
   * Adds what is kept under `key` to `snapshot`, which is sealed; its own files win. Whether there was anything: else
   * the snapshot is as it was.
   */
  async #lay(
    ref: FunctionRef,
    key: string,
    { snapshot, shared }: { readonly snapshot: string; readonly shared: boolean },
  ): Promise<boolean> {
    const kept = join(this.#directory, formatRef(ref), key);
    const madeIn = await readFile(join(kept, "made-in"), "utf8").catch(() => undefined);
    if (madeIn === undefined) return false;
    await layTree({
      from: join(kept, "content"),
      to: snapshot,
      shared,
      isAdded: () => true,
      moved: [madeIn, snapshot],
    });
    return true;
  }
}

async function textIn(file: string): Promise<string | undefined> {
  const found = await lstat(file).catch(() => undefined);
  return found?.isFile() === true ? readFile(file, "utf8") : undefined;
}

/**
 * Gives a sealed snapshot back to `user`, for commands that change it. From below, so that nothing of it is the user's
 * while something below it is not yet.
 */
async function unsealSnapshot(directory: string, user: number | undefined): Promise<void> {
  const unseal = async (path: string): Promise<void> => {
    const found = await lstat(path);
    // A file with a second name may be somebody else's, to whom a command made a hard link.
    if (found.isFile() && found.nlink > 1) return;
    if (found.isDirectory()) for (const name of await readdir(path)) await unseal(join(path, name));
    if (found.isFile()) await chmod(path, (found.mode & 0o777) | 0o200);
    if (user !== undefined) await lchown(path, user, user);
  };
  await unseal(directory);
}

interface Lay {
  readonly from: string;
  readonly to: string;
  /** Whether files become links to the same files. */
  readonly shared: boolean;
  readonly isAdded: (path: string) => boolean;
  /** A path in the texts of programs, and what it is now; both have the same length. */
  readonly moved?: readonly [from: string, to: string];
}

async function layTree(lay: Lay, below = ""): Promise<void> {
  const names = await readdir(join(lay.from, below));
  for (let at = 0; at < names.length; at += portion)
    await Promise.all(names.slice(at, at + portion).map((name) => layEntry(lay, join(below, name))));
}

async function layEntry(lay: Lay, path: string): Promise<void> {
  const [from, to] = [join(lay.from, path), join(lay.to, path)];
  const found = await lstat(from);
  const there = await lstat(to).catch(() => undefined);
  if (found.isDirectory()) {
    if (there?.isDirectory() === false) return;
    if (there === undefined && lay.isAdded(path)) await mkdir(to, { recursive: true, mode: 0o755 });
    return layTree(lay, path);
  }
  if (!lay.isAdded(path) || there !== undefined) return;
  // A directory of the folder itself is made only when something was added below it.
  if (!lay.isAdded(dirname(path))) await mkdir(dirname(to), { recursive: true, mode: 0o755 });
  if (found.isSymbolicLink()) return symlink(await readlink(from), to);
  if (!found.isFile()) return;
  if (lay.moved === undefined && found.nlink > 1) throw new Error("a file with a second name is not kept");
  const text = await movedText(from, found.size, lay.moved);
  if (text !== undefined) return writeFile(to, text, { flag: "wx", mode: (found.mode & 0o111) === 0 ? 0o444 : 0o555 });
  if (lay.shared) return link(from, to);
  return copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
}

/** Programs of a virtual environment name their interpreter by its path, which is another one in another snapshot. */
async function movedText(file: string, size: number, moved: Lay["moved"]): Promise<Buffer | undefined> {
  if (moved === undefined || size > maxTextSize) return undefined;
  const isProgram = basename(dirname(file)) === "bin" || [".cfg", ".pth"].includes(extname(file));
  if (!isProgram) return undefined;
  const bytes = await readFile(file);
  const [from, to] = moved.map((path) => Buffer.from(path));
  if (from === undefined || to === undefined || !bytes.includes(from)) return undefined;
  return Buffer.from(bytes.toString("latin1").replaceAll(from.toString("latin1"), to.toString("latin1")), "latin1");
}
