import type { FunctionRef } from "../../../../core/functions/function-ref.ts";
import { folderFailure } from "../../../../core/folders/folder-failure.ts";
import type { Replica, ReplicaSource } from "../../../../core/ports/replicas.ts";
import { quote } from "../../../../core/quote.ts";
import type { ReplicaFailure } from "../../../../core/replicas/reconcile-backoff.ts";
import { StartRefused } from "../../../../core/replicas/start-refused.ts";
import type { LocalReplica } from "../local-replica.ts";
import type { SnapshotUse } from "./snapshots.ts";

/** How one replica is run from a folder. */
export interface FolderReplicaOptions extends FunctionRef {
  readonly id: string;
  readonly generation: number;
  readonly source: ReplicaSource;
  readonly snapshot: SnapshotUse;
  /** Starts it in the snapshot. */
  readonly begin: (directory: string) => LocalReplica;
  /** Releases what it has when it was never started. */
  readonly abandon: () => Promise<void>;
  /** Called after each change of state. */
  readonly changed: () => void;
}

/** A replica that waits for the snapshot of its folder, and then runs there. */
export class FolderReplica {
  readonly #options: FolderReplicaOptions;
  readonly #settled: Promise<void>;
  #state: Replica["state"] = "starting";
  #failure: ReplicaFailure | undefined;
  #inner: LocalReplica | undefined;

  constructor(options: FolderReplicaOptions) {
    this.#options = options;
    const waits = options.source.prepare.length === 0 ? "copied" : "copied and prepared";
    this.#failure = {
      reason: "Preparing",
      message: `Replica ${options.id} waits until folder ${quote(options.source.path)} is ${waits}`,
    };
    this.#settled = this.#begin();
  }

  /** As that of `LocalReplica`. */
  get pid(): number | undefined {
    return this.#inner?.pid;
  }

  /** As `Replicas` lists it. */
  describe(): Replica {
    if (this.#inner !== undefined) return this.#inner.describe();
    const { id, name, namespace, generation } = this.#options;
    return { id, name, namespace, generation, state: this.#state, address: undefined, failure: this.#failure };
  }

  /** As that of `LocalReplica`. */
  async stop(): Promise<void> {
    if (this.#state === "starting") this.#state = "stopping";
    if (this.#inner === undefined) this.#options.snapshot.leave();
    await this.#settled;
    await this.#inner?.stop();
    this.#options.snapshot.leave();
  }

  /** As that of `LocalReplica`. */
  kill(): void {
    if (this.#inner === undefined) this.#options.snapshot.leave();
    else this.#inner.kill();
  }

  async #begin(): Promise<void> {
    const { snapshot, source, begin, abandon, changed } = this.#options;
    try {
      const directory = await snapshot.taken;
      if (this.#state === "starting") {
        this.#inner = begin(directory);
        return;
      }
    } catch (err) {
      this.#failure =
        err instanceof StartRefused
          ? { reason: err.reason, message: err.message }
          : folderFailure(source.path, err instanceof Error ? err.message : String(err));
    }
    await abandon();
    this.#state = "exited";
    changed();
  }
}
