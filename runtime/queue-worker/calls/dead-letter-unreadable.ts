import { parseCallId } from "../../api/grammar.ts";
import { uuid5 } from "../../core/calls/call-digest.ts";
import { endedEntry } from "../../core/calls/call-transitions.ts";
import type { QueuedCall } from "../../core/calls/call.ts";
import { changeRecord, type KnownRecord } from "../../core/calls/change-record.ts";
import type { Delivery } from "../../core/ports/call-queue.ts";
import { unreadableLetter } from "../../core/queues/unreadable-letter.ts";
import type { Slot } from "./detached-calls.ts";
import type { Lease } from "../lease.ts";
import { settleCall } from "./settle-call.ts";
import { untilDone } from "./until-done.ts";
import type { WorkerParts } from "../worker-parts.ts";

/**
 * Turns a message that is not a call into a dead letter, unchanged, under its id or, if that is unreadable, one derived
 * from queue and position. Its record, if there is one that has not ended, fails as `undecodable`, and its callback is
 * sent.
 */
export async function deadLetterUnreadable(
  parts: WorkerParts,
  delivery: Delivery<QueuedCall>,
  lease: Lease,
  why: string,
  slot: Slot,
): Promise<void> {
  const ownId = parseCallId(delivery.raw.headers.get("Weir-Call") ?? "");
  const id = ownId ?? uuid5(`${delivery.queue}\n${delivery.sequence}`);
  const now = parts.ledger.now();
  const record = await untilDone(lease, async () => {
    await parts.deadLetters.put(unreadableLetter({ kind: "call", id, queue: delivery.queue }, delivery, now));
    return ownId === undefined ? undefined : failRecord(parts, lease, ownId, why);
  });
  if (record === "lost" || lease.lost.aborted) return;
  parts.metrics.deadLetters.inc({ queue_name: delivery.queue, reason: "undecodable" });
  parts.log.warn({ callId: id, queue: delivery.queue, reason: why }, "call cannot be read");
  // The call's depth in a chain of callbacks cannot be read either.
  if (record !== undefined) return settleCall(parts, { id, record, delivery, lease, call: undefined }, slot);
  lease.close();
  await delivery.acknowledge();
}

/** The ended record; undefined when there is none, or the lease was lost. */
async function failRecord(parts: WorkerParts, lease: Lease, id: string, why: string): Promise<KnownRecord | undefined> {
  const { ledger, signals } = parts;
  const change = await changeRecord(
    ledger,
    id,
    (found) => {
      if (found === undefined || found.entry.ended !== null) return { as: undefined };
      const end = { now: ledger.now(), status: 502, duration: 0, error: why };
      const ended = endedEntry(found.entry, { state: "failed", reason: "undecodable", end, result: null });
      // The dead letter is already stored, with the message unchanged.
      return { as: undefined, write: { ...ended, pending: ended.pending.filter((step) => step !== "dead-letter") } };
    },
    { signal: lease.lost },
  );
  if (change.kind === "not-written") return undefined;
  if (change.kind === "left") return change.found;
  signals.ended(id);
  return change.record;
}
