import { PlatformError } from "../../../api/platform-error.ts";
import { chooseSyncCall } from "../../../core/history/reports/choose-sync-call.ts";
import type { SyncCallRing } from "../../../core/history/reports/sync-call-ring.ts";
import type { CallFacts, ObservedEnd } from "../call-facts.ts";

/** Called for each synchronous call that ended. */
export type KeepCall = (facts: Pick<CallFacts, "exchange" | "callId" | "entry">, end: ObservedEnd) => void;

/** Adds to the ring the calls that the history keeps; `sample` is the share of those that neither failed nor waited. */
export function keepSyncCalls(ring: Pick<SyncCallRing, "add">, sample: number): KeepCall {
  return ({ exchange, callId, entry }, end) => {
    // Anyone can call functions that do not exist, and queued calls have their records.
    if (entry === undefined || exchange.head.fromWorker) return;
    const { limits } = entry.facts;
    const kind = chooseSyncCall(limits instanceof PlatformError ? undefined : limits.historySync, end, sample);
    if (kind === undefined) return;
    const { status, duration, replica, coldStart } = end;
    const startedAt = Math.floor(Date.now() - duration);
    ring.add(kind, {
      id: callId,
      ref: entry.ref,
      method: exchange.method,
      status,
      startedAt,
      duration,
      replica,
      coldStart,
    });
  };
}
