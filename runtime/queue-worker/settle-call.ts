import { setTimeout as pause } from "node:timers/promises";

import type { CallEntry } from "../core/call-entry.ts";
import { callbackHeaders } from "../core/callback-headers.ts";
import { isDeadReason } from "../core/call-transitions.ts";
import type { QueuedCall } from "../core/call.ts";
import type { LedgerEntry, StoredResult } from "../core/ports/call-ledger.ts";
import type { Delivery } from "../core/ports/call-queue.ts";
import type { Lease } from "./lease.ts";
import type { WorkerParts } from "./worker-parts.ts";

const budget = 3_000;
const pauseAfterFailure = 250;

/** An ended call whose debts are to be paid, as this worker knows it. */
export interface EndedCall {
  readonly id: string;
  readonly found: Pick<LedgerEntry, "entry" | "revision">;
  readonly delivery: Delivery<QueuedCall>;
  readonly lease: Lease;
  /** Depth of the call in a chain of callbacks. */
  readonly depth: number;
  /** The output, if this worker still has it. */
  readonly result?: StoredResult;
}

/**
 * Steps W8 to W10: publishes what the record owes, writes that nothing is owed any more, acknowledges. Each step is
 * repeated until it works or the lease is lost; then the next worker goes on here.
 */
export async function settleCall(parts: WorkerParts, ended: EndedCall): Promise<void> {
  const { entry } = ended.found;
  for (const owed of entry.owes) {
    const published = await untilDone(ended.lease, () => publish(parts, ended, owed));
    if (!published) return;
  }
  if (entry.owes.length > 0) {
    const settled = await untilDone(ended.lease, () => writeSettled(parts, ended));
    if (!settled) return;
  }
  ended.lease.close();
  if (!(await ended.delivery.acknowledge())) parts.log.warn({ callId: ended.id }, "acknowledgement was not confirmed");
}

async function writeSettled(parts: WorkerParts, ended: EndedCall): Promise<boolean> {
  let { entry, revision } = ended.found;
  for (let race = 0; race < 20; race++) {
    const settled: CallEntry = { ...entry, owes: [] };
    const written = await parts.ledger.update(ended.id, settled, revision);
    if (written !== undefined) return true;
    // The callback may already have been sent and have written the record.
    const found = await parts.ledger.read(ended.id);
    if (found === undefined || found.entry.owes.length === 0) return true;
    // Redriven meanwhile, as its dead letter could be seen: what the record owes now is another's to pay.
    if (found.entry.redrives !== ended.found.entry.redrives) return true;
    ({ entry, revision } = found);
  }
  return false;
}

async function publish(parts: WorkerParts, ended: EndedCall, owed: CallEntry["owes"][number]): Promise<boolean> {
  const { entry } = ended.found;
  const ref = { namespace: entry.namespace, name: entry.function };
  switch (owed) {
    case "callback": {
      if (entry.callback === null) return true;
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
      return outcome.kind === "stored";
    }
    case "dead-letter": {
      if (!isDeadReason(entry.reason)) return true;
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
      return true;
    }
    case "message":
      // That is what the acknowledgement does.
      return true;
    default:
      return owed satisfies never;
  }
}

/** Repeats `act` until it says true; false when the lease was lost before. */
async function untilDone(lease: Lease, act: () => Promise<boolean>): Promise<boolean> {
  while (!lease.lost.aborted) {
    try {
      if (await act()) return true;
    } catch {
      // The broker is away: the lease bounds how long this may go on.
    }
    await pause(pauseAfterFailure);
  }
  return false;
}
