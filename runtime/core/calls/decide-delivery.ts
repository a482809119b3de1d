import type { CallEntry } from "./call-entry.ts";
import type { CallTimes } from "./call-ttl.ts";
import type { LedgerEntry } from "../ports/call-ledger.ts";

/** Lost runs after which a call is given up. */
export const crashBudget = 5;

/** A retry that is due within this many milliseconds is run now instead of being requeued. */
const dueSoon = 100;

/** What to do with a call that was delivered (step W1). */
export type DeliveryDecision =
  | { readonly action: "create-record" }
  /** The call has ended: publish what is pending, then acknowledge. */
  | { readonly action: "finish"; readonly entry: CallEntry }
  | { readonly action: "requeue"; readonly delay: number; readonly because: "lease-held" | "not-due" }
  | { readonly action: "dead-letter"; readonly reason: "crash" | "expired" }
  | { readonly action: "take"; readonly takeover: boolean };

/**
 * Decides on a delivered call by its record. `now` and `storedAt` are Unix milliseconds; `storedAt` is when the queue
 * stored the call.
 */
export function decideDelivery(
  found: LedgerEntry | undefined,
  storedAt: number,
  now: number,
  times: CallTimes,
): DeliveryDecision {
  if (found === undefined) return { action: "create-record" };
  const { entry } = found;
  switch (entry.state) {
    case "failed":
      // That it was delivered shows that it is stored: its gateway was slower than the queue-doctor.
      return entry.reason === "not_stored" ? takeUnlessOld(storedAt, now, times) : { action: "finish", entry };
    case "done":
    case "cancelled":
      return { action: "finish", entry };
    case "running": {
      // Clocks differ slightly: a record written "in the future" was written just now.
      const age = now - found.writtenAt;
      const lease = 0.95 * times.ackWait;
      if (age > -lease && age < lease) {
        return { action: "requeue", delay: Math.ceil(lease - Math.max(age, 0)), because: "lease-held" };
      }
      if (entry.lost >= crashBudget) return { action: "dead-letter", reason: "crash" };
      return { action: "take", takeover: true };
    }
    case "queued":
    case "waiting": {
      const decision = takeUnlessOld(storedAt, now, times);
      const remaining = entry.state === "waiting" ? (entry.next ?? 0) - now : 0;
      if (decision.action === "dead-letter" || remaining <= dueSoon) return decision;
      return { action: "requeue", delay: Math.ceil(remaining), because: "not-due" };
    }
    default:
      return entry.state satisfies never;
  }
}

function takeUnlessOld(storedAt: number, now: number, times: CallTimes): DeliveryDecision {
  if (now - storedAt > times.callMaxAge) return { action: "dead-letter", reason: "expired" };
  return { action: "take", takeover: false };
}
