import { PlatformError } from "../api/platform-error.ts";
import type { CallEntry } from "./call-entry.ts";
import { cancelledEntry } from "./call-transitions.ts";
import type { CallLedger } from "./ports/call-ledger.ts";
import type { CallSignals } from "./ports/call-signals.ts";

/** Every lost race means that the call went a step further; it has no more steps than this. */
const mostRaces = 50;

/**
 * Cancels a queued, waiting or running call: when it resolves no run starts any more and the running one is told to
 * stop. Cancelling twice is the same as once. `mayTouch` sees the record before anything is changed and throws when
 * this caller must not.
 * @throws PlatformError `call_not_found`, `call_finished`, or what `mayTouch` throws
 */
export async function cancelCall(
  parts: { readonly ledger: CallLedger; readonly signals: CallSignals },
  id: string,
  mayTouch: (entry: CallEntry) => void,
): Promise<void> {
  for (let race = 0; race < mostRaces; race++) {
    const found = await parts.ledger.read(id);
    if (found === undefined)
      throw new PlatformError("call_not_found", `Cannot cancel call "${id}": it is unknown or expired`);
    mayTouch(found.entry);
    switch (found.entry.state) {
      case "cancelled":
        // Perhaps by this very request, its answer lost: word of it must be given all the same.
        break;
      case "done":
      case "failed":
        throw new PlatformError("call_finished", `Cannot cancel call "${id}": it is ${found.entry.state}`);
      case "queued":
      case "waiting":
      case "running": {
        const entry = cancelledEntry(found.entry, parts.ledger.now());
        if ((await parts.ledger.update(id, entry, found.revision)) === undefined) continue;
        break;
      }
      default:
        found.entry.state satisfies never;
    }
    parts.signals.cancelled(id);
    parts.signals.ended(id);
    return;
  }
  throw new PlatformError("queue_unavailable", `Cannot cancel call "${id}": its record does not come to rest`, {
    retryAfterSeconds: 1,
  });
}
