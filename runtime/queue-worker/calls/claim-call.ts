import { randomUUID } from "node:crypto";

import { callDigest } from "../../core/calls/call-digest.ts";
import type { CallEntry } from "../../core/calls/call-entry.ts";
import { acceptedEntry, endedEntry, claimedEntry, givenUpRun } from "../../core/calls/call-transitions.ts";
import type { QueuedCall } from "../../core/calls/call.ts";
import { changeRecord, type KnownRecord, type RecordDecision } from "../../core/calls/change-record.ts";
import { decideDelivery, type DeliveryDecision } from "../../core/calls/decide-delivery.ts";
import type { LedgerEntry } from "../../core/ports/call-ledger.ts";
import type { Delivery } from "../../core/ports/call-queue.ts";
import { ClaimedCall } from "./claimed-call.ts";
import type { Lease } from "../lease.ts";
import type { WorkerParts } from "../worker-parts.ts";

/** Longest a call may hold its slot before it is claimed, milliseconds; then the slot goes to another call. */
const longestClaim = 15_000;
/** Milliseconds after which a call whose record could not be written is redelivered. */
const delayAfterFailure = 5_000;

/** What became of the attempt to claim a delivered call. */
export type Claim =
  | { readonly kind: "taken"; readonly held: ClaimedCall; readonly takeover: boolean }
  /** The call had ended, or has now: `reason` is set when this attempt gave it up. */
  | { readonly kind: "over"; readonly record: KnownRecord; readonly reason?: "crash" | "expired" }
  | {
      readonly kind: "requeue";
      readonly delay: number;
      readonly because: "lease-held" | "not-due" | "no-record";
    }
  | { readonly kind: "lost" };

/** Steps W1 and W2: claims the call for this worker, unless its record says that it must not run, or not now. */
export async function claimCall(
  parts: WorkerParts,
  delivery: Delivery<QueuedCall>,
  call: QueuedCall,
  lease: Lease,
  maxRetries: number,
): Promise<Claim> {
  const { ledger, times, worker } = parts;
  const until = performance.now() + longestClaim;
  const later: Claim = { kind: "requeue", delay: delayAfterFailure, because: "no-record" };
  const decide = (found: LedgerEntry | undefined): RecordDecision<DeliveryDecision> => {
    const now = ledger.now();
    const as = decideDelivery(found, delivery.storedAt, now, times);
    if (found === undefined) return { as };
    const { entry } = found;
    switch (as.action) {
      case "take":
        return {
          as,
          write: claimedEntry(entry, { owner: randomUUID(), takeover: as.takeover, now, maxRetries, worker }),
        };
      case "dead-letter":
        return { as, write: givenUpEntry(entry, as.reason, now) };
      default:
        return { as };
    }
  };
  for (;;) {
    const change = await changeRecord(ledger, call.id, decide, { signal: lease.lost, until });
    if (lease.lost.aborted) return { kind: "lost" };
    if (change.kind === "not-written") return later;
    const { as } = change;
    switch (as.action) {
      case "create-record": {
        const entry = acceptedEntry(call, { digest: callDigest(call), maxRetries });
        const outcome = await ledger.create(call.id, entry, Math.min(until, performance.now() + 3_000));
        if (outcome.kind === "created" || outcome.kind === "exists") break;
        return later;
      }
      case "finish":
        if (change.kind !== "left" || change.found === undefined) break;
        return { kind: "over", record: change.found };
      case "requeue":
        return { kind: "requeue", delay: as.delay, because: as.because };
      case "dead-letter":
        if (change.kind !== "written") break;
        return { kind: "over", record: change.record, reason: as.reason };
      case "take":
        if (change.kind !== "written") break;
        lease.proven(change.sentAt);
        return {
          kind: "taken",
          takeover: as.takeover,
          held: new ClaimedCall({ id: call.id, ledger, lease, taken: change.record }),
        };
      default:
        as satisfies never;
    }
  }
}

function givenUpEntry(entry: CallEntry, reason: "crash" | "expired", now: number): CallEntry {
  const end = { now, status: reason === "crash" ? 502 : 504, duration: 0, error: givenUpRun[reason] };
  return endedEntry(entry, { state: "failed", reason, end, result: null });
}
