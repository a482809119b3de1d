import type { CallEntry, PendingStep } from "../../core/calls/call-entry.ts";
import { callbackHeaders } from "../../core/callbacks/callback-headers.ts";
import { isDeadReason } from "../../core/calls/call-transitions.ts";
import type { QueuedCall } from "../../core/calls/call.ts";
import { changeRecord, type KnownRecord, type RecordDecision } from "../../core/calls/change-record.ts";
import type { StoredResult } from "../../core/ports/call-ledger.ts";
import type { Delivery } from "../../core/ports/call-queue.ts";
import type { Slot } from "./aside.ts";
import type { Lease } from "../lease.ts";
import { untilDone, whenRoom } from "./until-done.ts";
import type { WorkerParts } from "../worker-parts.ts";

const budget = 3_000;
/** Bounds of the delay after which a call is offered again whose callback found no room. */
const shortestDelay = 1_000;
const longestDelay = 60_000;

/** An ended call whose debts are to be paid, as this worker knows it. */
export interface EndedCall {
  readonly id: string;
  readonly record: KnownRecord;
  readonly delivery: Delivery<QueuedCall>;
  readonly lease: Lease;
  /** Depth of the call in a chain of callbacks. */
  readonly depth: number;
  /** The output, if this worker still has it. */
  readonly result?: StoredResult | undefined;
}

/** What became of debts, and the record that says so: paid, or another's by now; no room for the callback; lease lost. */
interface Payment {
  readonly kind: "paid" | "no-room" | "lost";
  readonly record: KnownRecord;
}

/**
 * Steps W8 to W10: publishes what the record owes, writes that it is not owed any more, acknowledges. Each step is
 * repeated until it works or the lease is lost; then the next worker goes on here. A callback that finds no room waits
 * outside the slot, so that one function whose receiver is down does not hold up the others; then the call is put back.
 */
export async function settleCall(parts: WorkerParts, ended: EndedCall, slot: Slot): Promise<void> {
  const { id, delivery, lease } = ended;
  let payment = await publishPending(parts, ended, ended.record);
  if (payment.kind === "no-room" && slot.leave()) {
    await whenRoom(
      async () => {
        payment = await publishPending(parts, ended, payment.record);
        return payment.kind !== "no-room";
      },
      AbortSignal.any([slot.stop, lease.lost]),
    );
  }
  const { kind, record } = payment;
  if (kind === "lost") return;
  lease.close();
  if (kind === "paid") {
    if (!(await delivery.acknowledge())) parts.log.warn({ callId: id }, "acknowledgement was not confirmed");
    return;
  }
  const age = parts.ledger.now() - (record.entry.ended ?? 0);
  parts.metrics.requeue.inc({ queue_name: delivery.queue, because: "callbacks-full" });
  delivery.requeue(Math.round(Math.min(longestDelay, Math.max(shortestDelay, age / 2))));
}

/** Pays what can be paid now, and writes down what was. */
async function publishPending(parts: WorkerParts, ended: EndedCall, record: KnownRecord): Promise<Payment> {
  const { lease } = ended;
  const { pending, redrives } = record.entry;
  const paid: PendingStep[] = [];
  for (const owed of pending) {
    const outcome = await untilDone(lease, () => publish(parts, ended, owed));
    if (outcome === "lost") return { kind: "lost", record };
    if (outcome === "stored") paid.push(owed);
  }
  const kind = paid.length === pending.length ? "paid" : "no-room";
  if (paid.length === 0) return { kind, record };
  const change = await changeRecord(
    parts.ledger,
    ended.id,
    (found) => withoutPending(found?.entry, redrives, paid),
    { signal: lease.lost },
    record,
  );
  if (change.kind === "not-written") return { kind: "lost", record };
  return change.kind === "written" ? { kind, record: change.record } : { kind: "paid", record };
}

/** The callback may already have been sent and have written the record; who redrove the call has debts of its own. */
function withoutPending(
  entry: CallEntry | undefined,
  redrives: number,
  paid: readonly PendingStep[],
): RecordDecision<"settled"> {
  if (entry?.redrives !== redrives || !entry.pending.some((owed) => paid.includes(owed))) return { as: "settled" };
  return { as: "settled", write: { ...entry, pending: entry.pending.filter((owed) => !paid.includes(owed)) } };
}

async function publish(parts: WorkerParts, ended: EndedCall, owed: PendingStep): Promise<"stored" | "full" | "failed"> {
  const { entry } = ended.record;
  const ref = { namespace: entry.namespace, name: entry.function };
  switch (owed) {
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
          depth: ended.depth,
          headers: callbackHeaders(ended.id, entry, ended.depth, result?.headers ?? []),
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
      // That is what the acknowledgement does.
      return "stored";
    default:
      return owed satisfies never;
  }
}
