import type { Condition } from "../../../../api/schemas/function-status.ts";
import { functionConditions } from "../../../../core/functions/conditions.ts";
import type { FunctionEndpoints } from "../../../../core/ports/endpoints.ts";
import { conditionFacts, exists, isReady, type ObservedFunction } from "./function-conditions.ts";
import { profileNames } from "./function-fault.ts";
import { desiredOf } from "../function-object.ts";
import { selectorText } from "../object-names.ts";
import type { FunctionObjectStatus } from "../../../../api/resources/function-resource.ts";
import type { FunctionObject } from "../function-custom-resource.ts";

const ours: ReadonlySet<string> = new Set(["Ready", "Healthy", "Reconciling", "Stalled"]);

/**
 * The operator's part of a Function object's status. Condition Scaling is the autoscaler's and not in it; a condition
 * whose status has not changed keeps its time.
 */
export function functionObjectStatus(object: FunctionObject, facts: ObservedFunction): FunctionObjectStatus {
  const { wanted, pods, now } = facts;
  const living = pods.filter((pod) => exists(pod) && pod.metadata.deletionTimestamp === undefined);
  const available = living.filter(isReady).length;
  const conditions = functionConditions(conditionFacts(facts), reportedConditions(object), new Date(now).toISOString());
  return {
    conditions,
    reason: reasonOf(conditions),
    replicas: living.length,
    availableReplicas: available,
    unavailableReplicas: Math.max(0, wanted.replicas - available),
    ...(object.metadata.generation === undefined ? {} : { observedGeneration: object.metadata.generation }),
    selector: selectorText(wanted.name),
    profiles: profileNames(wanted.deployment.annotations),
  };
}

/** The reason of Stalled or else Reconciling, if true; else that of Ready. */
function reasonOf(conditions: readonly Condition[]): string {
  const isTrue = (type: string) => conditions.find((each) => each.type === type && each.status === "True");
  const first = isTrue("Stalled") ?? isTrue("Reconciling") ?? conditions.find(({ type }) => type === "Ready");
  return first?.reason ?? "";
}

/** What the operator last reported of a function, with the addresses of its ready replicas. */
export function endpointsOf(object: FunctionObject, addresses: readonly string[]): FunctionEndpoints {
  const { name, namespace, generation } = desiredOf(object);
  const isSeen =
    object.status?.observedGeneration !== undefined &&
    object.status.observedGeneration >= (object.metadata.generation ?? 0);
  return {
    name,
    namespace,
    addresses,
    observedGeneration: isSeen ? generation : generation - 1,
    conditions: reportedConditions(object),
  };
}

function reportedConditions({ status }: FunctionObject): Condition[] {
  return (status?.conditions ?? [])
    .filter(({ type }) => ours.has(type))
    .map(
      ({ type, status: is, reason, message, lastTransitionTime }) =>
        ({ type, status: is, reason, message, lastTransitionTime }) as Condition,
    );
}
