import { chmod, mkdtemp, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";

import { folderTagIn } from "../../../../api/folders/folder-content.ts";
import { isSnapshotName, snapshotName } from "../../../../core/folders/snapshot-name.ts";
import { folderFailure } from "../../../../core/folders/folder-failure.ts";
import { unneededSnapshots } from "../../../../core/folders/unneeded-snapshots.ts";
import { formatRef, type FunctionRef } from "../../../../core/functions/function-ref.ts";
import type { FolderFault } from "../../../../core/functions/local-folder.ts";
import type { ReplicaSource } from "../../../../core/ports/replicas.ts";
import type { ReplicaFailure } from "../../../../core/replicas/reconcile-backoff.ts";
import { StartRefused } from "../../../../core/replicas/start-refused.ts";
import {
  makeDirectoryDurably,
  renameDurably,
  syncDirectory,
  syncTree,
  writeFileDurably,
} from "../../../../disk/durable-files.ts";
import { removeTree } from "../remove-tree.ts";
import { copyAsDeployed } from "./copy-as-deployed.ts";
import { FolderUnusable } from "./folder-unusable.ts";
import { KeptDependencies } from "./kept-dependencies.ts";
import { sealSnapshot } from "./seal-snapshot.ts";
import { RevisionRecords } from "./revision-records.ts";

/** What snapshots depend on. */
export interface SnapshotsParts {
  /** The directory of all snapshots. */
  readonly directory: string;
  readonly dataDirectory: string;
  readonly fault: FolderFault;
  /** Runs the commands in a snapshot that `user` may write to; the result is why they failed. */
  readonly prepare: (work: SnapshotWork) => Promise<ReplicaFailure | undefined>;
}

/** What a replica needs a snapshot for. */
export interface SnapshotRequest extends FunctionRef {
  readonly source: ReplicaSource;
  /** Of the deployment: its tag may say what the folder held then. */
  readonly image: string;
  /** Undefined = the user of this process. */
  readonly user: number | undefined;
}

/** One preparation that is due. */
export interface SnapshotWork extends FunctionRef {
  readonly commands: readonly string[];
  readonly directory: string;
  readonly user: number | undefined;
  readonly signal: AbortSignal;
}

/** A snapshot that a replica waits for, and then uses. */
export interface SnapshotUse {
  /** The directory; rejects with `StartRefused` when there can be none. */
  readonly taken: Promise<string>;
  /** Ends the use: what no other replica waits for is given up. */
  leave(): void;
}

interface Taking {
  readonly ref: string;
  readonly giveUp: AbortController;
  readonly taken: Promise<string>;
  users: number;
  /** Of the snapshot, once known. */
  name: string | undefined;
}

/** Of a snapshot that is not prepared yet. */
const unprepared = ".unprepared";
/** Directories that are being written, or removed. */
const drafts = "new-";
const removed = "gone-";

/**
 * Copies of folders in directories named by their content, prepared once. Which one a revision runs is recorded with
 * the copy, and is not changed by what becomes of the folder. `open` removes what a killed process left half done, and
 * it is done again from the folder.
 */
export class Snapshots {
  readonly #parts: SnapshotsParts;
  readonly #records: RevisionRecords;
  readonly #kept: KeptDependencies;
  readonly #takings = new Map<string, Taking>();
  /** Why the preparation failed, by function and revision. */
  readonly #failed = new Map<string, { readonly revision: string; readonly failure: ReplicaFailure }>();
  /** The last piece of work that must not overlap with others; of all, and by function. */
  #last: Promise<unknown> = Promise.resolve();
  readonly #turns = new Map<string, Promise<unknown>>();

  private constructor(parts: SnapshotsParts, records: RevisionRecords) {
    this.#parts = parts;
    this.#records = records;
    this.#kept = new KeptDependencies(join(parts.directory, "dependencies"));
  }

  static async open(parts: SnapshotsParts): Promise<Snapshots> {
    const { directory } = parts;
    await makeDirectoryDurably(directory, 0o755);
    // Whatever the umask is.
    await chmod(directory, 0o755);
    for (const name of await readdir(directory)) {
      if (name.startsWith(drafts) || name.startsWith(removed)) await removeTree(join(directory, name));
      if (!name.endsWith(unprepared)) continue;
      await removeTree(join(directory, name.slice(0, -unprepared.length)));
      await rm(join(directory, name));
    }
    const snapshots = new Snapshots(parts, await RevisionRecords.open(join(directory, "revisions")));
    await snapshots.#kept.clean(snapshots.functions());
    await snapshots.#clean();
    return snapshots;
  }

  /** Functions of which something is recorded. */
  functions(): readonly FunctionRef[] {
    return this.#records.functions();
  }

  /** @throws StartRefused when the preparation of this revision has failed */
  check(ref: FunctionRef, { revision }: ReplicaSource): void {
    const failed = this.#failed.get(formatRef(ref));
    if (failed?.revision === revision) throw new StartRefused(failed.failure);
  }

  /** All replicas of a revision share one snapshot. */
  use(request: SnapshotRequest): SnapshotUse {
    const key = `${formatRef(request)} ${request.source.revision}`;
    const taking = this.#takings.get(key) ?? this.#begin(key, request);
    taking.users += 1;
    let left = false;
    return {
      taken: taking.taken,
      leave: () => {
        if (left) return;
        left = true;
        taking.users -= 1;
        if (taking.users === 0) void this.#end(key, taking);
      },
    };
  }

  /** Removes the record of a function that has no replicas. */
  async forget(ref: FunctionRef): Promise<void> {
    this.#failed.delete(formatRef(ref));
    await this.#records.remove(ref);
    await this.#kept.forget(ref);
    await this.#clean();
  }

  /** Resolves when nothing is being copied, prepared or removed. */
  async close(): Promise<void> {
    for (const { giveUp } of this.#takings.values()) giveUp.abort();
    await Promise.all(this.#turns.values());
    await this.#last;
  }

  #begin(key: string, request: SnapshotRequest): Taking {
    const ref = formatRef(request);
    const giveUp = new AbortController();
    // One revision of a function after the other: they may have the same content.
    const before = this.#turns.get(ref) ?? Promise.resolve();
    const taken = before.then(() => this.#take(request, taking));
    const taking: Taking = { ref, giveUp, taken, users: 0, name: undefined };
    const turn = taken.catch(() => {});
    this.#turns.set(ref, turn);
    void turn.then(() => this.#turns.get(ref) === turn && this.#turns.delete(ref));
    this.#takings.set(key, taking);
    // A failure is not kept for the next replica.
    taken.catch(() => this.#takings.get(key) === taking && this.#takings.delete(key));
    return taking;
  }

  async #end(key: string, taking: Taking): Promise<void> {
    taking.giveUp.abort();
    if (this.#takings.get(key) === taking) this.#takings.delete(key);
    const now = new Date();
    if (taking.name !== undefined) await utimes(this.#pathOf(taking.name), now, now).catch(() => {});
    await this.#clean();
  }

  async #take(request: SnapshotRequest, taking: Taking): Promise<string> {
    const { source } = request;
    const { signal } = taking.giveUp;
    signal.throwIfAborted();
    const recorded = this.#records.of(request);
    if (recorded?.revision === source.revision && (await this.#claim(taking, recorded.name)))
      return this.#pathOf(recorded.name);
    const { name, isNew } = await this.#copy(request, taking);
    await this.#records.write(request, { revision: source.revision, name });
    if (isNew && source.prepare.length > 0) await this.#prepare(request, name, signal);
    await this.#clean();
    return this.#pathOf(name);
  }

  /** Whether the snapshot exists; it is not removed then while it is used. */
  #claim(taking: Taking, name: string): Promise<boolean> {
    return this.#alone(async () => {
      taking.name = name;
      return await exists(this.#pathOf(name));
    });
  }

  async #copy(request: SnapshotRequest, taking: Taking): Promise<{ readonly name: string; readonly isNew: boolean }> {
    const { image, source, user } = request;
    const { directory, dataDirectory, fault } = this.#parts;
    const { signal } = taking.giveUp;
    const draft = await mkdtemp(join(directory, drafts));
    try {
      const state = await fault(source.path);
      if (state !== undefined) throw new FolderUnusable(state);
      const writer = source.prepare.length === 0 ? undefined : { user };
      const to = join(draft, "content");
      const options = { from: source.path, to, dataDirectory, writer, signal };
      const entries = await copyAsDeployed(options, folderTagIn(image));
      const name = snapshotName(entries, request, source.prepare);
      if (await this.#claim(taking, name)) return { name, isNew: false };
      return await this.#alone(async () => {
        // Another function with the same content may have been faster.
        if (await exists(this.#pathOf(name))) return { name, isNew: false };
        if (writer !== undefined) await writeFileDurably(this.#pathOf(name) + unprepared, "");
        // Its name promises its content, after a power cut as well.
        else await syncTree(to);
        await renameDurably(to, this.#pathOf(name));
        return { name, isNew: true };
      });
    } catch (err) {
      if (err instanceof FolderUnusable) throw new StartRefused(folderFailure(source.path, err.message));
      throw err;
    } finally {
      await removeTree(draft);
    }
  }

  async #prepare(request: SnapshotRequest, name: string, signal: AbortSignal): Promise<void> {
    const { user } = request;
    const directory = this.#pathOf(name);
    const discard = async (): Promise<void> => {
      // Sealed first: its user could replace a directory by a link while it is removed.
      await sealSnapshot(directory, user);
      await removeTree(directory);
      await rm(directory + unprepared, { force: true });
    };
    let failure: ReplicaFailure | undefined;
    try {
      const { namespace, name: functionName, source } = request;
      const run = (commands: readonly string[]): Promise<ReplicaFailure | undefined> =>
        this.#parts.prepare({ namespace, name: functionName, commands, directory, user, signal });
      failure = await this.#kept.prepare(request, { commands: source.prepare, snapshot: directory, user, run });
      if (failure === undefined) await sealSnapshot(directory, user);
    } catch (err) {
      await discard();
      throw err;
    }
    if (failure === undefined) {
      await syncTree(directory);
      await rm(directory + unprepared);
      return syncDirectory(this.#parts.directory);
    }
    await discard();
    if (!signal.aborted) this.#failed.set(formatRef(request), { revision: request.source.revision, failure });
    throw new StartRefused(failure);
  }

  /** Removes snapshots that are not needed. A failure costs space, and is tried again at the next time. */
  async #clean(): Promise<void> {
    const { directory } = this.#parts;
    const unneeded = await this.#alone(async () => {
      const names = (await readdir(directory)).filter(isSnapshotName);
      const known = await Promise.all(
        names.map(async (name) => ({ name, lastUsedAt: (await stat(this.#pathOf(name))).mtimeMs })),
      );
      const used = [...this.#takings.values()].flatMap(({ name }) => name ?? []);
      const aside = unneededSnapshots(known, new Set([...this.#records.names(), ...used]));
      return await Promise.all(
        aside.map(async (name) => {
          const gone = join(await mkdtemp(join(directory, removed)), name);
          await rename(this.#pathOf(name), gone);
          return gone;
        }),
      );
    }).catch(() => []);
    for (const gone of unneeded) await removeTree(join(gone, "..")).catch(() => {});
  }

  #pathOf(name: string): string {
    return join(this.#parts.directory, name);
  }

  /** Runs `work` when no other such work runs. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
