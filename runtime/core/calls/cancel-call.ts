import { PlatformError } from "../../api/platform-error.ts";
import { named, publicly } from "../../api/public-sentence.ts";
import type { CallEntry } from "./call-entry.ts";
import { cancelledEntry } from "./call-transitions.ts";
import { changeBudget, changeRecord, unchanged } from "./change-record.ts";
import type { CallLedger } from "../ports/call-ledger.ts";
import type { CallSignals } from "../ports/call-signals.ts";

/**
 * Cancels a queued, waiting or running call: when it resolves no run starts any more and the running one is told to
 * stop. Idempotent. `authorise` gets the record before it is changed and throws when this caller may not cancel it.
 * @throws PlatformError `call_not_found`, `call_finished`, or what `authorise` throws
 */
export async function cancelCall(
  parts: { readonly ledger: CallLedger; readonly signals: CallSignals },
  id: string,
  authorise: (entry: CallEntry) => void,
): Promise<void> {
  const { ledger, signals } = parts;
  const change = await changeRecord(
    ledger,
    id,
    (found) => {
      if (found === undefined)
        throw new PlatformError("call_not_found", `Cannot cancel call "${id}": it is unknown or expired`);
      authorise(found.entry);
      const { state } = found.entry;
      switch (state) {
        case "cancelled":
          // Perhaps by this very request, whose response was lost: the signals must be sent anyway.
          return { as: state };
        case "done":
        case "failed":
          throw new PlatformError("call_finished", `Cannot cancel call "${id}": it is ${state}`);
        case "queued":
        case "waiting":
        case "running":
          return { as: state, write: cancelledEntry(found.entry, ledger.now()) };
        default:
          return state satisfies never;
      }
    },
    { until: performance.now() + changeBudget },
  );
  if (change.kind === "not-written") throw unchanged(publicly`cancel call ${named(id)}`, change);
  signals.cancelled(id);
  signals.ended(id);
}
