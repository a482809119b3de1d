import { setTimeout as pause } from "node:timers/promises";

import type { CallLedger, StoredResult } from "../core/ports/call-ledger.ts";
import type { Lease } from "./lease.ts";

const pauseAfterFailure = 250;
/** Longest an output that is owed to a callback waits for room, and between two tries, milliseconds. */
const longestWait = 30_000;
const pauseWhenFull = 500;

/** Step W6: true once the output is stored, false when there is no room for it or the lease was lost. */
export async function storeResult(
  ledger: CallLedger,
  lease: Lease,
  id: string,
  run: number,
  result: StoredResult,
  ttl: number,
): Promise<boolean> {
  while (!lease.lost.aborted) {
    try {
      return await ledger.putResult(id, run, result, ttl);
    } catch {
      await pause(pauseAfterFailure);
    }
  }
  return false;
}

/** Tries again until `store` finds room, 30 s are over or `signal` aborts; true once the output is stored. */
export async function storeWhenRoom(store: () => Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  const until = performance.now() + longestWait;
  while (!signal.aborted && performance.now() < until) {
    await pause(pauseWhenFull, undefined, { signal }).catch(() => {});
    if (!signal.aborted && (await store())) return true;
  }
  return false;
}
