import type { CallEntry } from "./call-entry.ts";
import type { CallTimes } from "./call-ttl.ts";
import type { LedgerEntry } from "../ports/call-ledger.ts";

/** Runs of a call whose worker was lost before it is given up. */
export const crashBudget = 5;

/** A retry that is due within this many milliseconds is not worth another round through the queue. */
const dueSoon = 100;

/** What to do with a call that was delivered (step W1). */
export type DeliveryDecision =
  | { readonly action: "create-record" }
  /** Over: publish what is still owed, then acknowledge. */
  | { readonly action: "finish"; readonly entry: CallEntry }
  | { readonly action: "requeue"; readonly delay: number; readonly because: "lease-held" | "not-due" }
  | { readonly action: "dead-letter"; readonly reason: "crash" | "expired" }
  | { readonly action: "take"; readonly takeover: boolean };

/**
 * Decides on a delivered call by its record. `now` and `storedAt` are Unix milliseconds; `storedAt` is when the queue
 * took the call.
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
    case "done":
    case "failed":
    case "cancelled":
      return { action: "finish", entry };
    case "running": {
      // Clocks differ by a little: what was written "a moment ahead" was written just now.
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
      if (now - storedAt > times.callMaxAge) return { action: "dead-letter", reason: "expired" };
      const rest = entry.state === "waiting" ? (entry.next ?? 0) - now : 0;
      if (rest > dueSoon) return { action: "requeue", delay: Math.ceil(rest), because: "not-due" };
      return { action: "take", takeover: false };
    }
    default:
      return entry.state satisfies never;
  }
}
