import type { Condition, FunctionStatus } from "../../api/schemas/function-status.ts";
import { annotation, defaultQueue, functionLabel } from "../../api/names.ts";
import type { DesiredFunction } from "./desired-function.ts";
import { keyValue } from "../labels/keys.ts";
import type { FunctionEndpoints } from "../ports/endpoints.ts";
import { scalingCondition } from "../scaling/scaling-condition.ts";

/**
 * A function as `/system/functions` shows it (contract §2): fields as deployed, replicas as desired, and what the
 * provider reported last. Until the provider has seen the newest deployment, condition Reconciling says so.
 */
export function functionStatus(
  wanted: DesiredFunction,
  endpoints: FunctionEndpoints | undefined,
  invocationCount: number,
): FunctionStatus {
  const { service: name, namespace: _, labels, annotations, ...sent } = wanted.deployment;
  return {
    name,
    namespace: wanted.namespace,
    ...sent,
    labels: { ...labels, [functionLabel]: name },
    annotations: { ...annotations },
    replicas: wanted.replicas,
    availableReplicas: endpoints?.addresses.length ?? 0,
    invocationCount,
    createdAt: wanted.createdAt,
    generation: wanted.generation,
    queue: keyValue(annotations, annotation.queue) ?? defaultQueue,
    conditions: [...conditionsOf(wanted, endpoints), scalingCondition(wanted)],
  };
}

function conditionsOf(wanted: DesiredFunction, endpoints: FunctionEndpoints | undefined): Condition[] {
  const reported = [...(endpoints?.conditions ?? [])];
  if (endpoints !== undefined && endpoints.observedGeneration >= wanted.generation) return reported;
  const lastTransitionTime = wanted.updatedAt;
  const pending: Condition[] = [
    {
      type: "Reconciling",
      status: "True",
      reason: "Pending",
      message: "The provider has not yet acted on the newest deployment",
      lastTransitionTime,
    },
  ];
  if (!reported.some((condition) => condition.type === "Ready")) {
    pending.push({
      type: "Ready",
      status: "Unknown",
      reason: "Pending",
      message: "The provider has not reported yet",
      lastTransitionTime,
    });
  }
  return [...reported.filter((condition) => condition.type !== "Reconciling"), ...pending];
}
