import type { WorkState } from "../ports/queue-store.ts";

/** Durations in milliseconds. */
export interface RepairTimes {
  /** Entries that nobody can reach are looked at for so long before anything is done about them. */
  readonly orphanGrace: number;
  /** Shortest time between two repairs of one store, but for those after a restart of the broker. */
  readonly repairCooldown: number;
}

/** What the looks before this one showed of one store. Monotonic milliseconds. */
export interface WorkHistory {
  readonly orphanedSince: number | undefined;
  readonly offers: number;
  /** Nothing was offered since then, though something was unanswered. */
  readonly quietSince: number;
  readonly rebuiltAt: number | undefined;
}

/** Why the workers' access to a store is made anew. */
export type RebuildReason = "orphaned" | "stalled" | "broker-changed" | "broker-restarted";

export type RepairDecision =
  | { readonly action: "none" }
  /** Entries stay unanswered: their records say whether that is as it shall be, else it has stalled. */
  | { readonly action: "inspect" }
  | { readonly action: "rebuild"; readonly because: RebuildReason };

const quietLeases = 3;

/** Adds a look to what is remembered. */
export function recordWork(before: WorkHistory | undefined, state: WorkState, now: number): WorkHistory {
  const quiet = before !== undefined && before.offers === state.offers && state.unanswered > 0;
  return {
    orphanedSince: state.orphans > 0 ? (before?.orphanedSince ?? now) : undefined,
    offers: state.offers,
    quietSince: quiet ? before.quietSince : now,
    rebuiltAt: before?.rebuiltAt,
  };
}

/** Decides whether a store needs a repair; `memory` has this look in it already. */
export function decideRepair(state: WorkState, memory: WorkHistory, now: number, times: RepairTimes): RepairDecision {
  if (!state.current) return { action: "rebuild", because: "broker-changed" };
  if (memory.rebuiltAt !== undefined && now - memory.rebuiltAt < times.repairCooldown) return { action: "none" };
  if (memory.orphanedSince !== undefined && now - memory.orphanedSince >= times.orphanGrace)
    return { action: "rebuild", because: "orphaned" };
  const stuck = state.unanswered > 0 && state.waitingWorkers > 0;
  return stuck && now - memory.quietSince >= quietLeases * state.ackWait ? { action: "inspect" } : { action: "none" };
}
