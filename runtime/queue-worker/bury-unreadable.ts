import { setTimeout as pause } from "node:timers/promises";

import { parseCallId } from "../api/grammar.ts";
import type { CallEntry } from "../core/call-entry.ts";
import { uuid5 } from "../core/call-digest.ts";
import { endedEntry } from "../core/call-transitions.ts";
import type { QueuedCall } from "../core/call.ts";
import type { LedgerEntry } from "../core/ports/call-ledger.ts";
import type { Delivery } from "../core/ports/call-queue.ts";
import type { Lease } from "./lease.ts";
import { settleCall } from "./settle-call.ts";
import type { WorkerParts } from "./worker-parts.ts";

const pauseAfterFailure = 250;

/**
 * A message that is no call becomes a dead letter as it is, under its id or, if that is unreadable, one made from
 * queue and position; its record, if there is one that is not over, says `undecodable`, and its callback is sent.
 */
export async function buryUnreadable(
  parts: WorkerParts,
  delivery: Delivery<QueuedCall>,
  lease: Lease,
  why: string,
): Promise<void> {
  const ownId = parseCallId(delivery.raw.headers.get("Weir-Call") ?? "");
  const id = ownId ?? uuid5(`${delivery.queue}\n${delivery.sequence}`);
  const now = parts.ledger.now();
  let found: Pick<LedgerEntry, "entry" | "revision"> | undefined;
  while (!lease.lost.aborted) {
    try {
      await parts.deadLetters.put({
        kind: "call",
        id,
        queue: delivery.queue,
        function: undefined,
        reason: "undecodable",
        attempts: 0,
        lastStatus: undefined,
        acceptedAt: delivery.storedAt,
        deadAt: now,
        redrives: 0,
        headers: delivery.raw.headers,
        body: delivery.raw.body,
      });
      if (ownId !== undefined) found = await failRecord(parts, ownId, why);
      break;
    } catch {
      await pause(pauseAfterFailure);
    }
  }
  if (lease.lost.aborted) return;
  parts.metrics.deadLetters.inc({ queue_name: delivery.queue, reason: "undecodable" });
  parts.log.warn({ callId: id, queue: delivery.queue, why }, "call cannot be read");
  if (found !== undefined) {
    // How deep in a chain of callbacks the call was cannot be read either.
    await settleCall(parts, { id, found, delivery, lease, depth: 0 });
    return;
  }
  lease.close();
  await delivery.acknowledge();
}

/** The record as it is in the end; undefined when there is none. */
async function failRecord(
  parts: WorkerParts,
  id: string,
  why: string,
): Promise<Pick<LedgerEntry, "entry" | "revision"> | undefined> {
  for (;;) {
    const found = await parts.ledger.read(id);
    if (found === undefined || found.entry.ended !== null) return found;
    const now = parts.ledger.now();
    const end = { now, status: 502, duration: 0, error: why };
    const ended = endedEntry(found.entry, { state: "failed", reason: "undecodable", end, result: null });
    // The dead letter lies there already, as the message came.
    const entry: CallEntry = {
      ...ended,
      owes: ended.owes.filter((owed) => owed !== "dead-letter"),
    };
    const revision = await parts.ledger.update(id, entry, found.revision);
    if (revision !== undefined) {
      parts.signals.ended(id);
      return { entry, revision };
    }
  }
}
