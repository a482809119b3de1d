import type { FunctionDeployment } from "../api/function-deployment.ts";
import type { FunctionRef } from "./function-ref.ts";
import { scaleBounds } from "./scale-bounds.ts";

/** What the platform shall make true for one function; the function store is its home. */
export interface DesiredFunction extends FunctionRef {
  /** As sent; the namespace in it is resolved. */
  readonly deployment: FunctionDeployment;
  /** Replicas wanted now; 0 is a state. */
  readonly replicas: number;
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
  return {
    name: deployment.service,
    namespace,
    deployment: { ...deployment, namespace },
    replicas: previous === undefined ? min : Math.min(Math.max(previous.replicas, min), max),
    generation: (previous?.generation ?? 0) + 1,
    createdAt: previous?.createdAt ?? now,
    updatedAt: now,
  };
}
