import type { CallEntry, PendingStep } from "../../core/calls/call-entry.ts";
import { callbackHeaders } from "../../core/callbacks/callback-headers.ts";
import { isDeadReason } from "../../core/calls/call-transitions.ts";
import type { QueuedCall } from "../../core/calls/call.ts";
import { changeRecord, type KnownRecord, type RecordDecision } from "../../core/calls/change-record.ts";
import type { StoredResult } from "../../core/ports/call-ledger.ts";
import type { Delivery } from "../../core/ports/call-queue.ts";
import type { Slot } from "./detached-calls.ts";
import type { Lease } from "../lease.ts";
import { keepRequest } from "./keep-request.ts";
import { untilDone, whenRoom } from "./until-done.ts";
import type { WorkerParts } from "../worker-parts.ts";

const budget = 3_000;
/** Bounds of the requeue delay of a call whose callback found no room, milliseconds. */
const shortestDelay = 1_000;
const longestDelay = 60_000;

/** An ended call whose pending steps are to be published, as this worker knows it. */
export interface EndedCall {
  readonly id: string;
  readonly record: KnownRecord;
  readonly delivery: Delivery<QueuedCall>;
  readonly lease: Lease;
  /** Undefined for a message that is no call. */
  readonly call: QueuedCall | undefined;
  /** The output, if this worker still has it. */
  readonly result?: StoredResult | undefined;
}

/** What became of pending steps, with the record: published (or no longer ours), callback without room, lease lost. */
interface Publication {
  readonly kind: "published" | "no-room" | "lost";
  readonly record: KnownRecord;
}

/**
 * Steps W8 to W10: publishes the record's pending steps, removes them from the record, keeps the request if that is
 * wanted, acknowledges. Each step but the request is repeated until it succeeds or the lease is lost; then the next
 * worker continues here. A callback that finds no room waits outside the slot, so that one function whose receiver is
 * down does not hold up the others; then the call is requeued.
 */
export async function settleCall(parts: WorkerParts, ended: EndedCall, slot: Slot): Promise<void> {
  const { id, delivery, lease } = ended;
  let publication = await publishPending(parts, ended, ended.record);
  if (publication.kind === "no-room" && slot.leave()) {
    await whenRoom(
      async () => {
        publication = await publishPending(parts, ended, publication.record);
        return publication.kind !== "no-room";
      },
      AbortSignal.any([slot.stop, lease.lost]),
    );
  }
  const { kind, record } = publication;
  if (kind === "lost") return;
  if (kind === "published" && ended.call !== undefined) {
    await keepRequest(parts, ended.call);
    if (lease.lost.aborted) return;
  }
  lease.close();
  if (kind === "published") {
    if (!(await delivery.acknowledge())) parts.log.warn({ callId: id }, "acknowledgement was not confirmed");
    return;
  }
  const age = parts.ledger.now() - (record.entry.ended ?? 0);
  parts.metrics.requeue.inc({ queue_name: delivery.queue, reason: "callbacks-full" });
  delivery.requeue(Math.round(Math.min(longestDelay, Math.max(shortestDelay, age / 2))));
}

/** Publishes what can be published now, and records that. */
async function publishPending(parts: WorkerParts, ended: EndedCall, record: KnownRecord): Promise<Publication> {
  const { lease } = ended;
  const { pending, redrives } = record.entry;
  const published: PendingStep[] = [];
  for (const step of pending) {
    const outcome = await untilDone(lease, () => publish(parts, ended, step));
    if (outcome === "lost") return { kind: "lost", record };
    if (outcome === "stored") published.push(step);
  }
  const kind = published.length === pending.length ? "published" : "no-room";
  if (published.length === 0) return { kind, record };
  const change = await changeRecord(
    parts.ledger,
    ended.id,
    (found) => withoutPending(found?.entry, redrives, published),
    { signal: lease.lost },
    record,
  );
  if (change.kind === "not-written") return { kind: "lost", record };
  return change.kind === "written" ? { kind, record: change.record } : { kind: "published", record };
}

/** The callback may already have been sent and have written the record; a redriven call has its own pending steps. */
function withoutPending(
  entry: CallEntry | undefined,
  redrives: number,
  published: readonly PendingStep[],
): RecordDecision<"settled"> {
  if (entry?.redrives !== redrives || !entry.pending.some((step) => published.includes(step))) return { as: "settled" };
  return { as: "settled", write: { ...entry, pending: entry.pending.filter((step) => !published.includes(step)) } };
}

async function publish(parts: WorkerParts, ended: EndedCall, step: PendingStep): Promise<"stored" | "full" | "failed"> {
  const { entry } = ended.record;
  const depth = ended.call?.depth ?? 0;
  const ref = { namespace: entry.namespace, name: entry.function };
  switch (step) {
    case "callback": {
      if (entry.callback === null) return "stored";
      const result =
        ended.result ??
        (entry.result?.stored === true ? await parts.ledger.readResult(ended.id, entry.result.run) : undefined);
      const outcome = await parts.callbacks.put(
        {
          id: ended.id,
          run: entry.result?.run ?? entry.run,
          redrives: entry.redrives,
          queue: entry.queue,
          function: ref,
          url: entry.callback.url,
          depth,
          headers: callbackHeaders(ended.id, entry, depth, result?.headers ?? []),
        },
        performance.now() + budget,
      );
      if (outcome.kind === "refused" && outcome.because === "full") return "full";
      return outcome.kind === "stored" ? "stored" : "failed";
    }
    case "dead-letter": {
      if (!isDeadReason(entry.reason)) return "stored";
      await parts.deadLetters.put({
        kind: "call",
        id: ended.id,
        queue: entry.queue,
        function: ref,
        reason: entry.reason,
        attempts: entry.run,
        lastStatus: entry.status ?? undefined,
        acceptedAt: Number(BigInt(entry.accepted) / 1_000_000n),
        deadAt: entry.ended ?? parts.ledger.now(),
        redrives: entry.redrives,
        headers: ended.delivery.raw.headers,
        body: ended.delivery.raw.body,
      });
      parts.metrics.deadLetters.inc({ queue_name: entry.queue, reason: entry.reason });
      return "stored";
    }
    case "message":
      // The acknowledgement removes the message.
      return "stored";
    default:
      return step satisfies never;
  }
}
