import type { WorkState } from "../ports/queue-store.ts";

/** Durations in milliseconds. */
export interface RepairTimes {
  /** How long entries stay orphaned before they are repaired. */
  readonly orphanGrace: number;
  /** Shortest time between two repairs of one store, except those after a restart of the broker. */
  readonly repairCooldown: number;
}

/** What earlier looks at one store found. Monotonic milliseconds. */
export interface WorkHistory {
  readonly orphanedSince: number | undefined;
  readonly offers: number;
  /** Since when nothing was delivered, although entries were unacknowledged. */
  readonly quietSince: number;
  readonly rebuiltAt: number | undefined;
}

/** Why the workers' consumer of a store is rebuilt. */
export type RebuildReason = "orphaned" | "stalled" | "broker-changed" | "broker-restarted";

export type RepairDecision =
  | { readonly action: "none" }
  /** Entries stay unacknowledged: their records tell whether that is correct or the consumer has stalled. */
  | { readonly action: "inspect" }
  | { readonly action: "rebuild"; readonly because: RebuildReason };

const quietLeases = 3;

/** The history with one more look at the store. */
export function recordWork(before: WorkHistory | undefined, state: WorkState, now: number): WorkHistory {
  const quiet = before !== undefined && before.offers === state.offers && state.unanswered > 0;
  return {
    orphanedSince: state.orphans > 0 ? (before?.orphanedSince ?? now) : undefined,
    offers: state.offers,
    quietSince: quiet ? before.quietSince : now,
    rebuiltAt: before?.rebuiltAt,
  };
}

/** Decides whether a store needs a repair; `history` already includes this look. */
export function decideRepair(state: WorkState, history: WorkHistory, now: number, times: RepairTimes): RepairDecision {
  if (!state.current) return { action: "rebuild", because: "broker-changed" };
  if (history.rebuiltAt !== undefined && now - history.rebuiltAt < times.repairCooldown) return { action: "none" };
  if (history.orphanedSince !== undefined && now - history.orphanedSince >= times.orphanGrace)
    return { action: "rebuild", because: "orphaned" };
  const maybeStalled = state.unanswered > 0 && state.waitingWorkers > 0;
  return maybeStalled && now - history.quietSince >= quietLeases * state.ackWait
    ? { action: "inspect" }
    : { action: "none" };
}
