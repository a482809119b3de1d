import type { Condition } from "../../api/schemas/function-status.ts";
import type { DesiredFunction } from "../functions/desired-function.ts";
import type { FunctionRef } from "../functions/function-ref.ts";
import type { FunctionEndpoints } from "../ports/endpoints.ts";

/** How far the replicas of one deployment have come: all of them ready, or why not, as a sentence. */
export type Rollout =
  | { readonly kind: "ready" }
  | { readonly kind: "under-way"; readonly message: string }
  /** It will not be ready soon: somebody has to do something, or already did. */
  | { readonly kind: "failed"; readonly message: string };

/** What is known of functions now, and word of each change. */
export interface FunctionView {
  /** What is desired; undefined: there is no such function. */
  wanted(ref: FunctionRef): DesiredFunction | undefined;
  /** What the provider said last. */
  endpoints(ref: FunctionRef): FunctionEndpoints | undefined;
  /** Calls `changed` after each change of either; the returned function ends that. */
  watch(ref: FunctionRef, changed: () => void): () => void;
}

/**
 * How far the deployment `written` has come. Replicas of it must be ready: those of an older one do not count, and need not
 * be gone. It has failed when replicas failed so often that the provider calls it stalled.
 */
export function rolloutOf(
  written: DesiredFunction,
  wanted: DesiredFunction | undefined,
  said: FunctionEndpoints | undefined,
): Rollout {
  if (wanted === undefined || wanted.createdAt !== written.createdAt) return failed("it was removed meanwhile");
  if (wanted.generation > written.generation) return failed("it was deployed again meanwhile");
  if (said === undefined || said.observedGeneration < written.generation) {
    return { kind: "under-way", message: "The provider has not yet acted on it" };
  }
  const reconciling = conditionOf(said, "Reconciling");
  if (reconciling?.status === "False" || reconciling?.reason === "Stopping") return { kind: "ready" };
  const stalled = conditionOf(said, "Stalled");
  const healthy = conditionOf(said, "Healthy");
  const isStalled = stalled?.status === "True";
  if (isStalled && healthy?.status === "False" && !passes(stalled)) return failed(stalled.message);
  const why = isStalled ? stalled : healthy?.status === "False" ? healthy : reconciling;
  return { kind: "under-way", message: why?.message ?? "The provider has not said why" };
}

/** Resolves when the rollout that `look` gives is not under way any more, when `within` is over, or when `signal` aborts. */
export function endOfRollout(
  look: () => Rollout,
  watch: (changed: () => void) => () => void,
  within: number,
  signal: AbortSignal,
): Promise<Rollout> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      unwatch();
      signal.removeEventListener("abort", end);
      resolve(look());
    };
    const lookAgain = (): void => {
      if (signal.aborted || look().kind !== "under-way") end();
    };
    const timer = setTimeout(end, within);
    const unwatch = watch(lookAgain);
    signal.addEventListener("abort", end, { once: true });
    lookAgain();
  });
}

/** What keeps the provider from everything passes by itself. */
function passes({ reason }: Condition): boolean {
  return reason === "ProviderUnavailable";
}

function conditionOf({ conditions }: FunctionEndpoints, type: Condition["type"]): Condition | undefined {
  return conditions.find((condition) => condition.type === type);
}

function failed(message: string): Rollout {
  return { kind: "failed", message };
}
