import type { ReplicaFailure } from "../../../../core/replicas/reconcile-backoff.ts";
import { replicaEndFailure } from "../../../../core/replicas/replica-end.ts";
import { defaultMemory, engineLabel } from "./container-labels.ts";
import type { ContainerDocument } from "../engine/engine-types.ts";

/** Why a container ended, from its state in the engine and the last lines it wrote. */
export function endOf(id: string, container: ContainerDocument, lines: readonly string[]): ReplicaFailure {
  const isDefaultLimit = container.Config.Labels[engineLabel.memory] === defaultMemory;
  const { OOMKilled: outOfMemory, ExitCode: code, Error: words } = container.State;
  return replicaEndFailure(
    id,
    { outOfMemory, code, words, memoryLimit: container.HostConfig.Memory, isDefaultLimit },
    lines,
  );
}
