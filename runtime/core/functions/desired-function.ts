import type { FunctionDeployment } from "../../api/schemas/function-deployment.ts";
import type { CountHold } from "../scaling/count-hold.ts";
import type { FunctionRef } from "./function-ref.ts";
import { scaleBounds } from "../scaling/scale-bounds.ts";

/** Why a function has as many replicas as are desired. */
export interface ScaledBecause {
  /** A word in CamelCase. */
  readonly reason: string;
  readonly message: string;
  /** RFC 3339. */
  readonly at: string;
}

/** `current` with so many replicas, why, and with `hold`; what held them before holds no more. */
export function withReplicas(
  current: DesiredFunction,
  replicas: number,
  scaled: ScaledBecause,
  hold?: CountHold,
): DesiredFunction {
  return { ...current, replicas, scaled, held: undefined, hold };
}

/** The reason for a count that is desired from `now` (Unix milliseconds) on. */
export function scaledBecause(reason: string, message: string, now: number): ScaledBecause {
  return { reason, message, at: new Date(now).toISOString() };
}

/** What the platform shall make true for one function; the function store is its home. */
export interface DesiredFunction extends FunctionRef {
  /** As sent; the namespace in it is resolved. */
  readonly deployment: FunctionDeployment;
  /** Replicas wanted now; 0 is a state. */
  readonly replicas: number;
  /** Absent = they are as deployed. */
  readonly scaled?: ScaledBecause;
  /** Why they are not fewer, or not zero, for some time already. Absent: nothing holds them. */
  readonly held?: ScaledBecause | undefined;
  /** The autoscaler leaves the count alone until this is over. A deployment ends it. */
  readonly hold?: CountHold | undefined;
  /** Who else sets the count: the autoscaler leaves it alone as long as that is so. Absent: nobody. */
  readonly externalScaler?: string;
  /** Raised by every deployment, equal ones too, and never by scaling: a change rolls all replicas. */
  readonly generation: number;
  /** RFC 3339. */
  readonly createdAt: string;
  /** RFC 3339, of the last deployment. */
  readonly updatedAt: string;
}

/**
 * The desired function after `deployment` replaced `previous`: the replica count stays within the new bounds, a
 * new function begins with its minimum.
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
