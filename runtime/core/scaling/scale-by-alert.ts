import { alertHoldTime, holdFor } from "./count-hold.ts";
import { scaledBecause, withReplicas } from "../functions/desired-function.ts";
import { functionNotFound } from "../functions/function-not-found.ts";
import type { FunctionRef } from "../functions/function-ref.ts";
import type { FunctionStore } from "../ports/function-store.ts";
import { scaleBounds, type ScaleBounds } from "./scale-bounds.ts";

/** What an alert manager reports of a function: overloaded, or no longer. */
export type AlertStatus = "firing" | "resolved";

/** The replicas after an alert: firing adds a fifth of the maximum, rounded up; resolved returns to the minimum. */
export function replicasAfterAlert(status: AlertStatus, replicas: number, { min, max }: ScaleBounds): number {
  return status === "resolved" ? min : Math.min(max, Math.max(min, replicas + Math.ceil(max / 5)));
}

/**
 * Sets the desired replicas of one function by an alert. While it fires, the autoscaler leaves them alone, for at most
 * an hour after the last report.
 * @throws PlatformError `function_not_found`
 */
export async function scaleByAlert(
  functions: FunctionStore,
  ref: FunctionRef,
  status: AlertStatus,
  now: () => number = Date.now,
): Promise<void> {
  await functions.write({ namespace: ref.namespace, name: ref.name }, (current) => {
    if (current === undefined) throw functionNotFound(ref);
    const bounds = scaleBounds(current.deployment.labels);
    const at = now();
    const scaled = scaledBecause("Alert", `An alert is ${status}`, at);
    const hold = status === "firing" ? holdFor("alert", alertHoldTime, at) : undefined;
    return withReplicas(current, replicasAfterAlert(status, current.replicas, bounds), scaled, hold);
  });
}
