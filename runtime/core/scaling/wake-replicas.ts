import { PlatformError } from "../../api/platform-error.ts";
import { formatRef, type FunctionRef } from "../functions/function-ref.ts";
import { scaledBecause, withReplicas } from "../functions/desired-function.ts";
import type { FunctionStore } from "../ports/function-store.ts";
import { scaleBounds } from "./scale-bounds.ts";

class AlreadyAwake extends Error {}

/**
 * Raises a function from 0 desired replicas to `scale.min`; for one that has any nothing is written.
 * @throws PlatformError `function_not_found`, or `provider_unavailable` when the store cannot be reached
 */
export async function wakeReplicas(
  functions: FunctionStore,
  ref: FunctionRef,
  now: () => number = Date.now,
): Promise<void> {
  try {
    await functions.write(ref, (current) => {
      if (current === undefined) {
        throw new PlatformError("function_not_found", `Cannot wake function "${formatRef(ref)}": it does not exist`);
      }
      if (current.replicas > 0) throw new AlreadyAwake();
      const scaled = scaledBecause("Woken", "A call came while it was scaled to zero", now());
      return withReplicas(current, scaleBounds(current.deployment.labels).min, scaled);
    });
  } catch (err) {
    if (!(err instanceof AlreadyAwake)) throw err;
  }
}
