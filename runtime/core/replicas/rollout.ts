import type { Condition } from "../../api/schemas/function-status.ts";
import type { DesiredFunction } from "../functions/desired-function.ts";
import type { FunctionRef } from "../functions/function-ref.ts";
import type { FunctionEndpoints } from "../ports/endpoints.ts";

/** Progress of one deployment: all its replicas are ready, or a sentence why not. */
export type Rollout =
  | { readonly kind: "ready" }
  | { readonly kind: "under-way"; readonly message: string }
  /** It will not become ready by itself: a person has to act, or already did. */
  | { readonly kind: "failed"; readonly message: string };

/** Current state of functions, with notification of changes. */
export interface FunctionView {
  /** Desired state; undefined: there is no such function. */
  wanted(ref: FunctionRef): DesiredFunction | undefined;
  /** What the provider reported last. */
  endpoints(ref: FunctionRef): FunctionEndpoints | undefined;
  /** Calls `changed` after each change of either; the returned function unsubscribes. */
  watch(ref: FunctionRef, changed: () => void): () => void;
}

/**
 * Progress of the deployment `written`. Its own replicas must be ready: those of an older one do not count, and may
 * still exist. It has failed when replicas failed so often that the provider reports it as stalled.
 */
export function rolloutOf(
  written: DesiredFunction,
  wanted: DesiredFunction | undefined,
  reported: FunctionEndpoints | undefined,
): Rollout {
  if (wanted === undefined || wanted.createdAt !== written.createdAt) return failed("it was removed meanwhile");
  if (wanted.generation > written.generation) return failed("it was deployed again meanwhile");
  if (reported === undefined || reported.observedGeneration < written.generation) {
    return { kind: "under-way", message: "The provider has not yet acted on it" };
  }
  const reconciling = conditionOf(reported, "Reconciling");
  if (reconciling?.status === "False" || reconciling?.reason === "Stopping") return { kind: "ready" };
  const stalled = conditionOf(reported, "Stalled");
  const healthy = conditionOf(reported, "Healthy");
  const isStalled = stalled?.status === "True";
  if (isStalled && healthy?.status === "False" && !isTransient(stalled)) return failed(stalled.message);
  const why = isStalled ? stalled : healthy?.status === "False" ? healthy : reconciling;
  return { kind: "under-way", message: why?.message ?? "The provider has not said why" };
}

/** Resolves when `look` no longer returns `under-way`, after `within` milliseconds, or when `signal` aborts. */
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

/** Provider outages pass by themselves. */
function isTransient({ reason }: Condition): boolean {
  return reason === "ProviderUnavailable";
}

function conditionOf({ conditions }: FunctionEndpoints, type: Condition["type"]): Condition | undefined {
  return conditions.find((condition) => condition.type === type);
}

function failed(message: string): Rollout {
  return { kind: "failed", message };
}
