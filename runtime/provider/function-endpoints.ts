import type { Condition } from "../api/schemas/function-status.ts";
import { functionConditions } from "../core/functions/conditions.ts";
import type { DesiredFunction } from "../core/functions/desired-function.ts";
import type { FunctionEndpoints } from "../core/ports/endpoints.ts";
import type { Backoff, ReplicaFailure } from "../core/replicas/reconcile-backoff.ts";
import type { TrackedReplica } from "./tracked-replica.ts";

/** The facts from which a function's endpoints follow. */
export interface EndpointsFacts {
  readonly wanted: DesiredFunction;
  /** All replicas that exist. */
  readonly replicas: readonly TrackedReplica[];
  readonly backoff: Backoff | undefined;
  readonly blocked: ReplicaFailure | undefined;
  /** What a person has to act on although replicas run. */
  readonly attention: ReplicaFailure | undefined;
  /** No replica is started before this time, Unix milliseconds. */
  readonly startAfter: number;
  /** The conditions that were published last. */
  readonly previous: readonly Condition[];
  /** Unix milliseconds. */
  readonly now: number;
}

/** A function's addresses with their replicas, and its conditions, as they are published. Once enough replicas are ready, a failure is past. */
export function functionEndpoints({
  wanted,
  replicas,
  backoff,
  blocked,
  attention,
  startAfter,
  previous,
  now,
}: EndpointsFacts): FunctionEndpoints {
  const { namespace, name, generation } = wanted;
  const serving = replicas.filter((tracked) => tracked.serves);
  const current = serving.filter(({ replica }) => replica.generation === generation);
  const live = replicas.filter(
    ({ retired, replica: { state } }) => !retired && !(state === "exited" || state === "stopping"),
  );
  const conditions = functionConditions(
    {
      wanted: wanted.replicas,
      ready: serving.length,
      readyCurrent: current.length,
      existing: replicas.length,
      superseded: replicas.filter(({ replica }) => replica.generation !== generation).length,
      backoff: current.length >= wanted.replicas ? undefined : backoff,
      blocked,
      attention,
      progress: replicas.find(({ replica, waitsFor }) => replica.generation === generation && waitsFor)?.waitsFor,
      backingOff: now < startAfter && live.length === 0 && !awaitsProvider(blocked),
    },
    previous,
    new Date(now).toISOString(),
  );
  const names: Record<string, string> = {};
  for (const { replica } of serving) if (replica.address !== undefined) names[replica.address] = replica.id;
  return { namespace, name, addresses: Object.keys(names), names, observedGeneration: generation, conditions };
}

/** Provider outages are transient and not the function's failure. */
function awaitsProvider(blocked: ReplicaFailure | undefined): boolean {
  return blocked?.reason === "ProviderUnavailable";
}
