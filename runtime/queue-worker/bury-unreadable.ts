import { setTimeout as pause } from "node:timers/promises";

import { parseCallId } from "../api/grammar.ts";
import { uuid5 } from "../core/call-digest.ts";
import { endedEntry } from "../core/call-transitions.ts";
import type { Delivery } from "../core/ports/call-queue.ts";
import type { Lease } from "./lease.ts";
import { ttlOf } from "./settle-call.ts";
import type { WorkerParts } from "./worker-parts.ts";

const pauseAfterFailure = 250;

/**
 * A message that is no call becomes a dead letter as it is, under its id or, if that is unreadable, one made from
 * queue and position; its record, if there is one that is not over, says `undecodable`.
 */
export async function buryUnreadable(parts: WorkerParts, delivery: Delivery<unknown>, lease: Lease, why: string): Promise<void> {
  const ownId = parseCallId(delivery.raw.headers.get("Weir-Call") ?? "");
  const id = ownId ?? uuid5(`${delivery.queue}\n${delivery.sequence}`);
  const now = Date.now();
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
      if (ownId !== undefined) await failRecord(parts, ownId, why);
      break;
    } catch {
      await pause(pauseAfterFailure);
    }
  }
  if (lease.lost.aborted) return;
  parts.metrics.deadLetters.inc({ queue_name: delivery.queue, reason: "undecodable" });
  parts.log.warn({ callId: id, queue: delivery.queue, why }, "call cannot be read");
  lease.close();
  await delivery.acknowledge();
}

async function failRecord(parts: WorkerParts, id: string, why: string): Promise<void> {
  for (let race = 0; race < 5; race++) {
    const found = await parts.ledger.read(id);
    if (found === undefined || found.entry.ended !== null) return;
    const now = Date.now();
    const end = { now, status: 502, duration: 0, error: why };
    const ended = { ...endedEntry(found.entry, { state: "failed", reason: "undecodable", end, result: null }), owes: [], callback: null };
    const ttl = ttlOf(parts, ended);
    if ((await parts.ledger.update(id, { ...ended, expires: now + ttl }, found.revision, ttl)) !== undefined) {
      parts.signals.ended(id);
      return;
    }
  }
}
