import { PlatformError } from "../api/platform-error.ts";
import { formatRef, type FunctionRef } from "./function-ref.ts";
import type { FunctionStore } from "./ports/function-store.ts";
import { scaleBounds } from "./scale-bounds.ts";

class AlreadyAwake extends Error {}

/**
 * Raises a function from 0 desired replicas to `scale.min`; one that has any is left as it is, nothing is written.
 * @throws PlatformError `function_not_found`, or `provider_unavailable` when the store cannot be reached
 */
export async function wakeReplicas(functions: FunctionStore, ref: FunctionRef): Promise<void> {
  try {
    await functions.write(ref, (current) => {
      if (current === undefined) {
        throw new PlatformError("function_not_found", `Cannot wake function "${formatRef(ref)}": it does not exist`);
      }
      if (current.replicas > 0) throw new AlreadyAwake();
      return { ...current, replicas: scaleBounds(current.deployment.labels).min };
    });
  } catch (err) {
    if (!(err instanceof AlreadyAwake)) throw err;
  }
}
