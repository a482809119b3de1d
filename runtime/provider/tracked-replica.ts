import type { Replica } from "../core/ports/replicas.ts";
import type { ReplicaFacts } from "../core/reconcile.ts";
import type { ReplicaProbe } from "./replica-probe.ts";

/** What the provider remembers of one replica between two looks at it. Times are Unix milliseconds. */
export class TrackedReplica {
  replica: Replica;
  probe: ReplicaProbe | undefined;
  retired = false;
  unpublishedAt: number | undefined;
  /** Its end was counted. */
  failed = false;
  stopping = false;

  constructor(replica: Replica) {
    this.replica = replica;
  }

  /** It may get calls. */
  get serves(): boolean {
    return !this.retired && this.replica.state === "running" && this.probe?.readySince !== undefined;
  }

  /** For a decision. */
  facts(): ReplicaFacts {
    const { id, generation, state } = this.replica;
    return {
      id,
      generation,
      state: this.stopping ? "stopping" : state,
      ready: this.serves,
      unhealthy: this.probe?.unhealthy ?? false,
      retired: this.retired,
      unpublishedAt: this.unpublishedAt,
    };
  }
}
