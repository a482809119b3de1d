import { isQueueName, parseCallId } from "../../api/grammar.ts";
import { header } from "../../api/names.ts";
import { named, publicly } from "../../api/public-sentence.ts";
import { shortError } from "../../core/calls/call-attempts.ts";
import { uuid5 } from "../../core/calls/call-digest.ts";
import { changeBudget, changeRecord, unchanged } from "../../core/calls/change-record.ts";
import type { CallbackVerdict } from "../../core/callbacks/decide-callback.ts";
import { headerValue } from "../../core/headers/header-list.ts";
import type { QueuedCallback } from "../../core/ports/callback-queue.ts";
import type { Delivery } from "../../core/ports/call-queue.ts";
import { unreadableLetter } from "../../core/queues/unreadable-letter.ts";
import type { WorkerParts } from "../worker-parts.ts";

/** What is known of a callback that is given up. */
export interface GivenUp {
  readonly attempts: number;
  readonly verdict: Extract<CallbackVerdict, { kind: "failed" }>;
  /** The output it carried. */
  readonly output: { readonly body: Uint8Array; readonly truncated: boolean };
}

/** Turns a callback that is given up into a dead letter, with the output it carried. */
export async function deadLetterCallback(parts: WorkerParts, callback: QueuedCallback, end: GivenUp): Promise<void> {
  const { verdict } = end;
  await parts.deadLetters.put({
    kind: "callback",
    id: callback.id,
    queue: callback.queue,
    function: callback.function,
    reason: "callback",
    attempts: end.attempts,
    lastStatus: verdict.status,
    acceptedAt: acceptedAt(callback),
    deadAt: parts.ledger.now(),
    redrives: callback.redrives,
    headers: new Map(),
    body: end.output.body,
    callback: { ...callback, output: end.output },
  });
  parts.metrics.deadLetters.inc({ queue_name: callback.queue, reason: "callback" });
  parts.log.warn({ callId: callback.id, err: verdict.error, status: verdict.status }, "callback was given up");
}

/**
 * Turns an entry that is not a callback into a dead letter, unchanged, under its id or, if that is unreadable, one
 * derived from its position. A pending callback in its record is failed. Rejects when that cannot be stored now.
 */
export async function deadLetterUnreadableCallback(
  parts: WorkerParts,
  delivery: Delivery<QueuedCallback>,
  why: string,
): Promise<void> {
  const { headers } = delivery.raw;
  const ownId = parseCallId(headers.get("Weir-Call") ?? "");
  const queueName = headers.get("Weir-Queue") ?? "";
  const queue = isQueueName(queueName) ? queueName : parts.queue.name;
  const id = ownId ?? uuid5(`callbacks\n${delivery.sequence}`);
  await parts.deadLetters.put(unreadableLetter({ kind: "callback", id, queue }, delivery, parts.ledger.now()));
  if (ownId !== undefined) await failCallback(parts, ownId, why);
  parts.metrics.deadLetters.inc({ queue_name: queue, reason: "undecodable" });
  parts.log.warn({ callId: id, queue, reason: why }, "callback cannot be read");
}

async function failCallback(parts: WorkerParts, id: string, why: string): Promise<void> {
  const change = await changeRecord(
    parts.ledger,
    id,
    (found) => {
      const callback = found?.entry.callback;
      // The callback of a call that has not ended is still to come.
      if (found === undefined || found.entry.ended === null || callback?.state !== "pending") return { as: undefined };
      const { next: _, ...known } = callback;
      const failed = { ...known, state: "failed", error: shortError(`the callback cannot be read: ${why}`) } as const;
      return { as: undefined, write: { ...found.entry, callback: failed } };
    },
    { until: performance.now() + changeBudget },
  );
  if (change.kind === "not-written") throw unchanged(publicly`fail the callback of call ${named(id)}`, change);
}

/** When its call was accepted, Unix milliseconds, as its headers say. */
function acceptedAt({ headers }: QueuedCallback): number {
  const nanoseconds = headerValue(headers, header.startTime.toLowerCase()) ?? "";
  return /^\d{1,20}$/.test(nanoseconds) ? Number(BigInt(nanoseconds) / 1_000_000n) : 0;
}
