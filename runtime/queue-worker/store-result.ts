import { setTimeout as pause } from "node:timers/promises";

import type { CallLedger, StoredResult } from "../core/ports/call-ledger.ts";
import type { Lease } from "./lease.ts";

const pauseAfterFailure = 250;

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
