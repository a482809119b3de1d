import type { Replica } from "../core/ports/replicas.ts";
import type { ReplicaFailure } from "../core/replicas/reconcile-backoff.ts";
import type { ReplicaFacts } from "../core/replicas/reconcile.ts";
import type { ReplicaProbe } from "./replica-probe.ts";

/** What the provider keeps of one replica between two passes. Times are Unix milliseconds. */
export class TrackedReplica {
  replica: Replica;
  probe: ReplicaProbe | undefined;
  retired = false;
  unpublishedAt: number | undefined;
  /** Its failure was counted. */
  failed = false;
  stopping = false;

  constructor(replica: Replica) {
    this.replica = replica;
  }

  /** It may get calls. */
  get serves(): boolean {
    return !this.retired && this.replica.state === "running" && this.probe?.readySince !== undefined;
  }

  /** What keeps it from being ready, as far as is known. */
  get waitsFor(): ReplicaFailure | undefined {
    const { id, state, failure } = this.replica;
    if (this.retired || this.serves) return undefined;
    if (state === "starting") return failure;
    if (state !== "running") return undefined;
    const unready = this.probe?.unready;
    if (failure !== undefined || unready === undefined) return failure;
    return { reason: "NotReady", message: `Replica ${id} is not ready: ${unready}` };
  }

  /** The facts that `decideReconcile` needs. */
  facts(): ReplicaFacts {
    const { id, generation, state } = this.replica;
    return {
      id,
      generation,
      state: this.stopping ? "stopping" : state,
      ready: this.serves,
      unhealthy: this.probe?.unhealthy !== undefined,
      retired: this.retired,
      unpublishedAt: this.unpublishedAt,
    };
  }
}
