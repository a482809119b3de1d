import { PlatformError } from "../../api/platform-error.ts";
import { holdFor } from "./count-hold.ts";
import { scaledBecause, withReplicas } from "../functions/desired-function.ts";
import { functionNotFound } from "../functions/function-not-found.ts";
import type { FunctionRef } from "../functions/function-ref.ts";
import type { FunctionStore } from "../ports/function-store.ts";
import { scaleBounds } from "./scale-bounds.ts";

/**
 * Sets the desired replicas of one function, 0 to its label scale.max. Counts between 0 and scale.min become scale.min,
 * as a function leaves zero for no fewer. The autoscaler leaves the count alone for `holdTime` milliseconds.
 * @throws PlatformError `function_not_found`; `validation_failed` above scale.max
 */
export async function scaleFunction(
  functions: FunctionStore,
  ref: FunctionRef,
  replicas: number,
  holdTime: number,
  now: () => number = Date.now,
): Promise<void> {
  await functions.write({ namespace: ref.namespace, name: ref.name }, (current) => {
    if (current === undefined) throw functionNotFound(ref);
    const { min, max } = scaleBounds(current.deployment.labels);
    if (replicas > max) {
      throw new PlatformError(
        "validation_failed",
        `Cannot scale function "${ref.name}" to ${replicas} replicas: its label scale.max allows ${max}`,
      );
    }
    const at = now();
    const count = replicas === 0 ? 0 : Math.max(replicas, min);
    const request = count === replicas ? "by request" : `by a request for ${replicas}: the label scale.min is ${min}`;
    const scaled = scaledBecause("Requested", `Scaled to ${count} ${request}`, at);
    return withReplicas(current, count, scaled, holdFor("scale-function", holdTime, at));
  });
}
