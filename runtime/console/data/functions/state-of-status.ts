import type { FunctionStatus } from "../../../api/schemas/function-status.ts";
import type { FunctionState } from "../../../api/schemas/watch/function-row.ts";
import { functionKeyOf } from "./function-of-page.ts";
import type { ListedFunction } from "./listed-functions.ts";

/** What a function does, from its description. */
export function stateOfStatus({ replicas, availableReplicas, conditions }: FunctionStatus): FunctionState {
  if (conditions.some(({ type, status }) => type === "Stalled" && status === "True")) return "stalled";
  if (availableReplicas > replicas) return "stopping";
  if (replicas === 0) return "scaled_to_zero";
  if (availableReplicas === replicas) return "ready";
  return availableReplicas === 0 ? "starting" : "degraded";
}

/** A function in a list, from its description, which says nothing of its calls. */
export function listedOfStatus(status: FunctionStatus): ListedFunction {
  const { name, namespace, replicas, availableReplicas, conditions, createdAt } = status;
  const changed = conditions.map(({ lastTransitionTime }) => Date.parse(lastTransitionTime));
  return {
    key: functionKeyOf(status),
    name,
    namespace,
    wanted: replicas,
    ready: availableReplicas,
    state: stateOfStatus(status),
    calls: undefined,
    errors: undefined,
    inFlight: undefined,
    since: Math.max(Date.parse(createdAt), ...changed),
  };
}
