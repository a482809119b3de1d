import { randomBytes } from "node:crypto";
import { chown, mkdir, rm } from "node:fs/promises";
import { extname, join } from "node:path";

import { formatDuration } from "../../../api/duration.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import { formatRef, type FunctionRef } from "../../../core/functions/function-ref.ts";
import { addressesOf, type Replica, type Replicas, type ReplicaSpec } from "../../../core/ports/replicas.ts";
import { StartRefused } from "../../../core/replicas/start-refused.ts";
import { FolderReplica } from "./folders/folder-replica.ts";
import type { LocalFolders } from "./folders/open-folders.ts";
import type { SnapshotRequest } from "./folders/snapshots.ts";
import { functionCommand, type FunctionCommandParts } from "./function-command.ts";
import type { FunctionUsers } from "./function-users.ts";
import { LocalReplica } from "./local-replica.ts";
import { logDirectory } from "./logs/log-files.ts";
import { ReplicaLog } from "./logs/replica-log.ts";
import { removeTree } from "./remove-tree.ts";
import type { RunDirectory } from "./run-directory.ts";
import type { SecretViews } from "../../files/secret-views.ts";
import { EndedLogs, endedLogSize } from "../../replica-logs/ended-logs.ts";

/** What local replicas depend on. */
export interface LocalReplicasParts extends FunctionCommandParts {
  readonly run: RunDirectory;
  readonly logs: string;
  readonly views: SecretViews;
  /** Undefined when functions run as the user of this process. */
  readonly users: FunctionUsers | undefined;
  /** The watchdog's own environment; functions find programs on its `PATH`. */
  readonly watchdogEnvironment: Readonly<Record<string, string>> & { readonly PATH: string };
  /** Absent: functions are not run from folders. */
  readonly folders?: LocalFolders | undefined;
}

interface Entry extends FunctionRef {
  readonly replica: LocalReplica | FolderReplica;
  readonly log: ReplicaLog;
  /** Directories and files that are removed with it. */
  readonly leftovers: readonly string[];
  stopped: Promise<void> | undefined;
}

interface CommandPlace {
  readonly stage: string;
  readonly user: number | undefined;
  readonly folder: string | undefined;
  readonly socket: string;
}

/** In a package the sources are compiled: its file ends as this one does. */
const watchdog = join(import.meta.dirname, `../../../watchdog/main${extname(import.meta.filename)}`);

/**
 * Runs replicas as processes of this host that share its files, network and memory: for trusted code. They are isolated
 * only by `confinement` and, where this process is root, by a user per function. Limits and images are not applied.
 */
export class LocalReplicas implements Replicas {
  readonly traits = { port: undefined, handlesProbes: true };
  readonly #parts: LocalReplicasParts;
  readonly #entries = new Map<string, Entry>();
  /** Replicas by id, including those being started, with the secrets that they name. */
  readonly #named = new Map<string, FunctionRef & { readonly secrets: readonly string[] }>();
  readonly #listeners = new Set<(ref: FunctionRef) => void>();
  readonly #ended: EndedLogs;
  #closed = false;
  #closing: Promise<void> | undefined;

  constructor(parts: LocalReplicasParts) {
    this.#parts = parts;
    this.#ended = new EndedLogs(parts.logs);
  }

  async start(spec: ReplicaSpec): Promise<Replica> {
    await this.check();
    if (spec.source !== undefined) this.#foldersFor(spec).snapshots.check(spec, spec.source);
    const id = `${spec.name}-${randomBytes(5).toString("hex")}`;
    this.#named.set(id, { name: spec.name, namespace: spec.namespace, secrets: spec.secrets });
    try {
      return await this.#start(spec, id);
    } catch (err) {
      await this.#releaseSecrets(id);
      throw err;
    }
  }

  async stop(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    entry.stopped ??= this.#remove(id, entry);
    await entry.stopped;
  }

  async list(): Promise<readonly Replica[]> {
    return [...this.#entries.values()].map(({ replica }) => replica.describe());
  }

  addresses(): readonly string[] {
    return [...this.#entries.values()].flatMap(({ replica }) => addressesOf(replica.describe()));
  }

  async orphans(): Promise<readonly FunctionRef[]> {
    const refs = [...(await this.#ended.functions()), ...(this.#parts.folders?.snapshots.functions() ?? [])];
    return [...new Map(refs.map((ref) => [formatRef(ref), ref])).values()];
  }

  onChange(changed: (ref: FunctionRef) => void): () => void {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  }

  async check(): Promise<void> {
    if (this.#closed) throw new PlatformError("provider_unavailable", "Cannot start replicas: the provider is closing");
  }

  async showToken(ref: FunctionRef, token: string | undefined): Promise<void> {
    const { views, users } = this.#parts;
    if (token === undefined) await views.hideToken(ref);
    else await views.showToken(ref, token, await users?.hold(ref));
  }

  async forget(ref: FunctionRef): Promise<void> {
    await this.#parts.views.forget(ref);
    await this.#parts.folders?.snapshots.forget(ref);
    await this.#parts.folders?.homes.forget(ref);
    await rm(logDirectory(this.#parts.logs, ref), { recursive: true, force: true });
    this.#parts.users?.release(ref);
  }

  async forgetNamespace(namespace: string): Promise<void> {
    await rm(join(this.#parts.logs, namespace), { recursive: true, force: true });
  }

  /** Ids of the first process of each replica of a function. */
  pidsOf(ref: FunctionRef): readonly number[] {
    return [...this.#entries.values()]
      .filter(({ name, namespace }) => name === ref.name && namespace === ref.namespace)
      .flatMap(({ replica: { pid } }) => (pid === undefined ? [] : [pid]));
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** As `close`, but aborts calls in flight. */
  async endNow(): Promise<void> {
    const closed = this.close();
    for (const { replica } of this.#entries.values()) replica.kill();
    await closed;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#entries.keys()].map((id) => this.stop(id)));
    await this.#parts.folders?.snapshots.close();
    await this.#parts.users?.close();
    await this.#parts.run.close();
  }

  async #start(spec: ReplicaSpec, id: string): Promise<Replica> {
    const { name, namespace, source } = spec;
    const ref = { name, namespace };
    const user = await this.#parts.users?.hold(ref);
    await this.#parts.views.show(ref, spec.secrets, user);
    const inFolder = source && (await this.#inFolder({ ...ref, source, image: spec.image, user }));
    const directory = join(this.#parts.run.replicas, id);
    const stage = `${directory}.var`;
    const directories = this.#parts.mountsSecrets ? [directory, stage] : [directory];
    for (const path of directories) await mkdir(path, { mode: 0o700 });
    // Short, as the path of a socket has 107 bytes at most.
    const socket = join(this.#parts.run.sockets, randomBytes(6).toString("base64url"));
    if (user !== undefined) await chown(directory, user, user);
    const log = await ReplicaLog.open(join(logDirectory(this.#parts.logs, spec), id));
    const facts = { ...ref, id, generation: spec.generation, changed: () => this.#notify(ref) };
    const begin = (folder?: string): LocalReplica =>
      new LocalReplica({
        ...facts,
        command: this.#commandOf(spec, { stage, user, folder, socket }),
        socket,
        watchdogEnvironment: this.#parts.watchdogEnvironment,
        environment: {
          PATH: inFolder?.searchPath ?? this.#parts.watchdogEnvironment.PATH,
          HOME: inFolder?.home ?? directory,
          TMPDIR: directory,
          ...spec.environment,
        },
        directory,
        workingDirectory: folder ?? directory,
        user,
        grace: spec.grace,
        log,
      });
    const replica =
      inFolder === undefined
        ? begin()
        : new FolderReplica({ ...facts, ...inFolder, snapshot: inFolder.use(), begin, abandon: () => log.close() });
    this.#entries.set(id, { name, namespace, replica, log, leftovers: [...directories, socket], stopped: undefined });
    return replica.describe();
  }

  /** What a replica needs that is run from a folder. */
  async #inFolder(request: SnapshotRequest) {
    const { source, user } = request;
    const { snapshots, homes, searchPath } = this.#foldersFor(request);
    const use = () => snapshots.use(request);
    return { source, home: await homes.of(request, user), searchPath, use };
  }

  #foldersFor({ name, namespace }: FunctionRef): LocalFolders {
    const { folders } = this.#parts;
    if (folders !== undefined) return folders;
    const message = `Cannot run function "${formatRef({ name, namespace })}" from a folder: this provider takes none`;
    throw new StartRefused({ reason: "CannotRun", message });
  }

  #commandOf(spec: ReplicaSpec, { stage, user, folder, socket }: CommandPlace): string[] {
    const flags = ["--listen-socket", socket, "--write-timeout", formatDuration(spec.grace)];
    const mounted = folder === undefined ? undefined : { path: folder, writable: false };
    const mounts = { stage, view: this.#parts.views.pathOf(spec), folder: mounted };
    return functionCommand(this.#parts, { program: [watchdog, ...flags], user, mounts });
  }

  async #remove(id: string, { name, namespace, replica, log, leftovers }: Entry): Promise<void> {
    await replica.stop();
    // A full disk costs log lines and nothing else.
    await this.#ended.keep({ name, namespace }, id, await log.end(endedLogSize)).catch(() => {});
    await log.remove();
    for (const path of leftovers) await removeTree(path);
    this.#entries.delete(id);
    await this.#releaseSecrets(id);
  }

  async #releaseSecrets(id: string): Promise<void> {
    const ref = this.#named.get(id);
    this.#named.delete(id);
    if (ref === undefined) return;
    await this.#parts.views.limit(ref, () => {
      const others = [...this.#named.values()].filter(
        ({ name, namespace }) => name === ref.name && namespace === ref.namespace,
      );
      return new Set(others.flatMap(({ secrets }) => secrets));
    });
  }

  #notify(ref: FunctionRef): void {
    for (const changed of this.#listeners) changed(ref);
  }
}
