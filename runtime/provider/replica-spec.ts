import type { DesiredFunction } from "../core/functions/desired-function.ts";
import { functionEnvironment, type FunctionSurroundings } from "../core/functions/function-environment.ts";
import { localFolder } from "../core/functions/local-folder.ts";
import type { ReplicaSpec } from "../core/ports/replicas.ts";
import { replicaGrace } from "../core/replicas/reconcile-grace.ts";

/** How replicas of a function are run; `upstreamTimeout` in milliseconds. */
export function replicaSpec(
  wanted: DesiredFunction,
  surroundings: FunctionSurroundings,
  upstreamTimeout: number,
): ReplicaSpec {
  const { name, namespace, generation, createdAt, deployment } = wanted;
  const folder = localFolder(deployment.annotations);
  return {
    name,
    namespace,
    generation,
    image: deployment.image,
    // A function that was recreated counts its generations from 1 again.
    source: folder && { ...folder, revision: `${createdAt} ${generation}` },
    envProcess: deployment.envProcess,
    environment: functionEnvironment(wanted, surroundings),
    secrets: deployment.secrets ?? [],
    limits: deployment.limits ?? {},
    requests: deployment.requests ?? {},
    readOnlyRootFilesystem: deployment.readOnlyRootFilesystem ?? false,
    grace: replicaGrace(deployment, upstreamTimeout),
  };
}
