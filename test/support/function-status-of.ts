import type { FunctionDeployment } from "../../runtime/api/schemas/function-deployment.ts";
import type { Condition, FunctionStatus } from "../../runtime/api/schemas/function-status.ts";

/** A function as a gateway shows it after this deployment; ready, unless `more` says otherwise. */
export function functionStatusOf(deployment: FunctionDeployment, more: Partial<FunctionStatus> = {}): FunctionStatus {
  const { service: name, namespace = "functions", labels, annotations, ...sent } = deployment;
  return {
    name,
    namespace,
    ...sent,
    labels: { ...labels, faas_function: name },
    annotations: { ...annotations },
    replicas: 1,
    availableReplicas: 1,
    invocationCount: 0,
    createdAt: "2026-01-31T12:00:00.000Z",
    generation: 1,
    queue: "default",
    conditions: [conditionOf("Reconciling", "False")],
    ...more,
  };
}

/** A condition; its message names it. */
export function conditionOf(type: Condition["type"], status: Condition["status"], reason = "Any"): Condition {
  return {
    type,
    status,
    reason,
    message: `${type} is ${status}: ${reason}`,
    lastTransitionTime: "2026-01-31T12:00:00.000Z",
  };
}
