import type { FunctionDeployment } from "../../api/schemas/function-deployment.ts";
import type { CountHold } from "../scaling/count-hold.ts";
import type { FunctionRef } from "./function-ref.ts";
import { scaleBounds } from "../scaling/scale-bounds.ts";

/** Why a function has its number of desired replicas. */
export interface ScaledBecause {
  /** A word in CamelCase. */
  readonly reason: string;
  readonly message: string;
  /** RFC 3339. */
  readonly at: string;
}

/** `current` with another number of replicas, its reason, and `hold`; an earlier hold and `held` are dropped. */
export function withReplicas(
  current: DesiredFunction,
  replicas: number,
  scaled: ScaledBecause,
  hold?: CountHold,
): DesiredFunction {
  return { ...current, replicas, scaled, held: undefined, hold };
}

/** The reason for a count that is desired since `now` (Unix milliseconds). */
export function scaledBecause(reason: string, message: string, now: number): ScaledBecause {
  return { reason, message, at: new Date(now).toISOString() };
}

/** Desired state of one function, kept in the function store. */
export interface DesiredFunction extends FunctionRef {
  /** As sent, but with its namespace resolved. */
  readonly deployment: FunctionDeployment;
  /** Replicas desired now; 0 = scaled to zero. */
  readonly replicas: number;
  /** Why there are this many replicas. Absent: as deployed. */
  readonly scaled?: ScaledBecause;
  /** Why they have not been scaled down, or to zero, for some time. Absent: nothing holds them. */
  readonly held?: ScaledBecause | undefined;
  /** The autoscaler leaves the count alone until this ends. A deployment ends it, too. */
  readonly hold?: CountHold | undefined;
  /** Name of another scaler that sets the count; the autoscaler leaves it alone meanwhile. Absent: there is none. */
  readonly externalScaler?: string;
  /** Incremented by every deployment, also an identical one, and never by scaling: a change replaces all replicas. */
  readonly generation: number;
  /** RFC 3339. */
  readonly createdAt: string;
  /** RFC 3339, of the last deployment. */
  readonly updatedAt: string;
}

/**
 * The desired function after `deployment` replaced `previous`: the replica count is kept within the new bounds, a new
 * function starts with its minimum.
 */
export function desireFunction(
  previous: DesiredFunction | undefined,
  namespace: string,
  deployment: FunctionDeployment,
  now: string,
): DesiredFunction {
  const { min, max } = scaleBounds(deployment.labels);
  const replicas = previous === undefined ? min : Math.min(Math.max(previous.replicas, min), max);
  return {
    name: deployment.service,
    namespace,
    deployment: { ...deployment, namespace },
    replicas,
    ...(previous?.scaled !== undefined && previous.replicas === replicas ? { scaled: previous.scaled } : {}),
    generation: (previous?.generation ?? 0) + 1,
    createdAt: previous?.createdAt ?? now,
    updatedAt: now,
  };
}
