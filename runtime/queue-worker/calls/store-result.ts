import type { CallLedger, StoredResult } from "../../core/ports/call-ledger.ts";
import type { Lease } from "../lease.ts";
import { untilDone } from "./until-done.ts";

/** Step W6: true once the output is stored, false when there is no room for it or the lease was lost. */
export async function storeResult(
  ledger: CallLedger,
  lease: Lease,
  id: string,
  run: number,
  result: StoredResult,
  ttl: number,
): Promise<boolean> {
  return (await untilDone(lease, () => ledger.putResult(id, run, result, ttl))) === true;
}
