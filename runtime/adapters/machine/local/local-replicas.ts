import { randomBytes } from "node:crypto";
import { chown, mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { formatDuration } from "../../../api/duration.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { Replica, Replicas, ReplicaSpec } from "../../../core/ports/replicas.ts";
import type { Confinement } from "./confinement.ts";
import type { FunctionUsers } from "./function-users.ts";
import { LocalReplica } from "./local-replica.ts";
import { logDirectory } from "./logs/log-files.ts";
import { ReplicaLog } from "./logs/replica-log.ts";
import type { RunDirectory } from "./run-directory.ts";
import { withSecretMount } from "./secret-mount.ts";
import type { SecretViews } from "../../files/secret-views.ts";
import { EndedLogs, endedLogSize } from "../../replica-logs/ended-logs.ts";

/** What local replicas depend on. */
export interface LocalReplicasParts {
  readonly run: RunDirectory;
  readonly logs: string;
  readonly views: SecretViews;
  /** Undefined when functions run as the user of this process. */
  readonly users: FunctionUsers | undefined;
  /** The Node.js program that functions find. */
  readonly node: string;
  /** Compile cache of the watchdog's modules: compiling them takes most of the time of a start. */
  readonly compileCache: string;
  /** Secrets are mounted at their well-known paths. */
  readonly mountsSecrets: boolean;
  readonly confinement: Confinement;
}

interface Entry extends FunctionRef {
  readonly replica: LocalReplica;
  readonly log: ReplicaLog;
  readonly directories: readonly string[];
  stopped: Promise<void> | undefined;
}

const watchdog = fileURLToPath(new URL("../../../watchdog/main.ts", import.meta.url));
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

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

  orphans(): Promise<readonly FunctionRef[]> {
    return this.#ended.functions();
  }

  onChange(changed: (ref: FunctionRef) => void): () => void {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  }

  async check(): Promise<void> {
    if (this.#closed) throw new PlatformError("provider_unavailable", "Cannot start replicas: the provider is closing");
  }

  async forget(ref: FunctionRef): Promise<void> {
    await this.#parts.views.forget(ref);
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
    await this.#parts.users?.close();
    await this.#parts.run.close();
  }

  async #start(spec: ReplicaSpec, id: string): Promise<Replica> {
    const { name, namespace } = spec;
    const user = await this.#parts.users?.hold({ name, namespace });
    await this.#parts.views.show({ name, namespace }, spec.secrets, user);
    const directory = join(this.#parts.run.replicas, id);
    const stage = `${directory}.var`;
    const directories = this.#parts.mountsSecrets ? [directory, stage] : [directory];
    for (const path of directories) await mkdir(path, { mode: 0o700 });
    if (user !== undefined) await chown(directory, user, user);
    const log = await ReplicaLog.open(join(logDirectory(this.#parts.logs, spec), id));
    const path = `${dirname(this.#parts.node)}:${systemPath}`;
    const replica = new LocalReplica({
      id,
      name,
      namespace,
      generation: spec.generation,
      command: this.#commandOf(spec, stage, user),
      watchdogEnvironment: { PATH: path, NODE_COMPILE_CACHE: this.#parts.compileCache },
      environment: { PATH: path, HOME: directory, TMPDIR: directory, ...spec.environment },
      directory,
      user,
      grace: spec.grace,
      log,
      changed: () => this.#notify({ name, namespace }),
    });
    this.#entries.set(id, { name, namespace, replica, log, directories, stopped: undefined });
    return replica.describe();
  }

  #commandOf(spec: ReplicaSpec, stage: string, user: number | undefined): string[] {
    const { node, views, mountsSecrets, confinement } = this.#parts;
    const flags = ["--host", "127.0.0.1", "--port", "0", "--write-timeout", formatDuration(spec.grace)];
    if (user !== undefined) flags.push("--run-as", `${user}:${user}`);
    if (confinement.inner.length > 0) flags.push("--exec-prefix", confinement.inner.join(" "));
    const command = confinement.wrap([node, watchdog, ...flags]);
    return mountsSecrets ? withSecretMount(stage, views.pathOf(spec), command) : command;
  }

  async #remove(id: string, { name, namespace, replica, log, directories }: Entry): Promise<void> {
    await replica.stop();
    // A full disk costs log lines and nothing else.
    await this.#ended.keep({ name, namespace }, id, await log.end(endedLogSize)).catch(() => {});
    await log.remove();
    for (const path of directories) await rm(path, { recursive: true, force: true });
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
