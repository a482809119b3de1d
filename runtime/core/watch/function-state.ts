import type { Condition } from "../../api/schemas/function-status.ts";
import type { FunctionState } from "../../api/schemas/watch/function-row.ts";

/** What a function's state is derived from. */
export interface FunctionStateFacts {
  /** Desired replicas. */
  readonly wanted: number;
  /** Replicas that are ready. */
  readonly ready: number;
  readonly conditions: readonly Condition[];
}

/** What a function does, in one word, the worst first: a person has to act, calls are not or hardly served, it changes. */
export function functionState({ wanted, ready, conditions }: FunctionStateFacts): FunctionState {
  if (conditions.some(({ type, status }) => type === "Stalled" && status === "True")) return "stalled";
  if (ready < wanted) return ready === 0 ? "starting" : "degraded";
  if (ready > wanted) return "stopping";
  return wanted === 0 ? "scaled_to_zero" : "ready";
}

/** Conditions whose change is one of the state; why there are so many replicas is not. */
const ofState: ReadonlySet<string> = new Set(["Ready", "Healthy", "Reconciling", "Stalled"]);

/** When a function's state last changed, whole seconds since 1970; every gateway says the same. */
export function stateSince(conditions: readonly Condition[], createdAt: string): number {
  let latest = Date.parse(createdAt);
  for (const { type, lastTransitionTime } of conditions) {
    if (ofState.has(type)) latest = Math.max(latest, Date.parse(lastTransitionTime));
  }
  return Number.isNaN(latest) ? 0 : Math.floor(latest / 1_000);
}
