import type { DesiredFunction } from "../core/functions/desired-function.ts";
import { environmentOf, type FunctionSurroundings } from "../core/functions/function-environment.ts";
import type { ReplicaSpec } from "../core/ports/replicas.ts";
import { replicaGrace } from "../core/replicas/reconcile-grace.ts";

/** How replicas of a function are run; `upstreamTimeout` in milliseconds. */
export function replicaSpec(
  wanted: DesiredFunction,
  surroundings: FunctionSurroundings,
  upstreamTimeout: number,
): ReplicaSpec {
  const { name, namespace, generation, deployment } = wanted;
  return {
    name,
    namespace,
    generation,
    image: deployment.image,
    envProcess: deployment.envProcess,
    environment: environmentOf(wanted, surroundings),
    secrets: deployment.secrets ?? [],
    limits: deployment.limits ?? {},
    requests: deployment.requests ?? {},
    readOnlyRootFilesystem: deployment.readOnlyRootFilesystem ?? false,
    grace: replicaGrace(deployment, upstreamTimeout),
  };
}
