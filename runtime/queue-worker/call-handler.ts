import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

import type { CallEntry } from "../core/call-entry.ts";
import { callDigest } from "../core/call-digest.ts";
import { acceptedEntry, endedEntry, takenEntry } from "../core/call-transitions.ts";
import { openTtl } from "../core/call-ttl.ts";
import type { QueuedCall } from "../core/call.ts";
import { decideDelivery } from "../core/decide-delivery.ts";
import { formatRef } from "../core/function-ref.ts";
import type { LedgerEntry } from "../core/ports/call-ledger.ts";
import type { Delivery } from "../core/ports/call-queue.ts";
import type { RetryRules } from "../core/retry.ts";
import { buryUnreadable } from "./bury-unreadable.ts";
import { HeldCall } from "./held-call.ts";
import { Lease } from "./lease.ts";
import { limitsOf } from "./run-function.ts";
import { HeldRun } from "./held-run.ts";
import { settleCall, ttlOf } from "./settle-call.ts";
import type { WorkerParts } from "./worker-parts.ts";

/** A call does not change its record this often between two looks. */
const mostLooks = 20;
const pauseAfterFailure = 250;

/** Deals with the deliveries of one queue, steps W1 to W10; knows which runs are under way. */
export class CallHandler {
  readonly #parts: WorkerParts;
  readonly #runs = new Map<string, HeldRun>();
  #handBack = false;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
  }

  /** Runs under way. */
  get running(): number {
    return this.#runs.size;
  }

  /** Word came that a call was cancelled: looks at its record if it runs here. */
  heardCancelled(id: string): void {
    this.#runs.get(id)?.heardCancelled();
  }

  /** From now on runs are cut off and their calls handed back to the queue. */
  handBack(): void {
    this.#handBack = true;
    for (const run of this.#runs.values()) run.handBack();
  }

  /** Deals with one delivery; never rejects. When it resolves the call is settled, put back, or lost to another. */
  async handle(delivery: Delivery<QueuedCall>): Promise<void> {
    const { log, times } = this.#parts;
    const lease = new Lease({
      ackWait: times.ackWait,
      deliveredAt: delivery.deliveredAt,
      extend: () => delivery.extend(),
    });
    try {
      if ("unreadable" in delivery.content)
        await buryUnreadable(this.#parts, delivery, lease, delivery.content.unreadable);
      else await this.#deal(delivery, delivery.content.read, lease);
    } catch (err) {
      log.error(
        { err, queue: delivery.queue, sequence: delivery.sequence },
        "cannot deal with a call; it will be offered again",
      );
    } finally {
      lease.close();
    }
  }

  async #deal(delivery: Delivery<QueuedCall>, call: QueuedCall, lease: Lease): Promise<void> {
    const { ledger, times, metrics } = this.#parts;
    for (let look = 0; look < mostLooks && !lease.lost.aborted; look++) {
      let found: LedgerEntry | undefined;
      try {
        found = await ledger.read(call.id);
      } catch {
        await pause(pauseAfterFailure);
        continue;
      }
      const decision = decideDelivery(found, delivery.storedAt, Date.now(), times);
      switch (decision.action) {
        case "create-record":
          await ledger.create(call.id, this.#freshEntry(call), openTtl(times), performance.now() + 3_000);
          break;
        case "finish":
          if (found === undefined) break;
          await settleCall(this.#parts, { id: call.id, found, delivery, lease, depth: call.depth });
          return;
        case "put-back":
          metrics.putBack.inc({ queue_name: delivery.queue, because: decision.because });
          lease.close();
          delivery.putBack(decision.delay);
          return;
        case "give-up":
          if (found !== undefined && (await this.#giveUp(delivery, call, lease, found, decision.reason))) return;
          break;
        case "take": {
          const held = found === undefined ? undefined : await this.#take(call, lease, found, decision.takeover);
          if (held === undefined) break;
          if (!decision.takeover && held.entry.run === 1) {
            metrics.wait.observe(
              { queue_name: delivery.queue },
              Math.max(0, Date.now() - Number(call.start / 1_000_000n)) / 1_000,
            );
          }
          await this.#run(delivery, call, lease, held);
          return;
        }
        default:
          decision satisfies never;
      }
    }
  }

  async #run(delivery: Delivery<QueuedCall>, call: QueuedCall, lease: Lease, held: HeldCall): Promise<void> {
    const run = new HeldRun(this.#parts, delivery, call, lease, held);
    this.#runs.set(call.id, run);
    if (this.#handBack) run.handBack();
    const queue = { queue_name: delivery.queue };
    this.#parts.metrics.inflight.inc(queue);
    try {
      await run.go(this.#rulesOf(call));
    } finally {
      this.#parts.metrics.inflight.dec(queue);
      // After a takeover the call may run here a second time, while the first run still winds down.
      if (this.#runs.get(call.id) === run) this.#runs.delete(call.id);
    }
  }

  /** Step W2; undefined when another was faster or nobody answered: look again. */
  async #take(call: QueuedCall, lease: Lease, found: LedgerEntry, takeover: boolean): Promise<HeldCall | undefined> {
    const { ledger, times } = this.#parts;
    const ttl = openTtl(times);
    const now = Date.now();
    const maxRetries = this.#rulesOf(call).attempts;
    const entry = {
      ...takenEntry(found.entry, { owner: randomUUID(), takeover, now, maxRetries }),
      expires: now + ttl,
    };
    let revision = await ledger.update(call.id, entry, found.revision, ttl).catch(() => undefined);
    if (revision === undefined) {
      // Also a write that was repeated because its answer was lost finds another revision: its own.
      const seen = await ledger.read(call.id).catch(() => undefined);
      if (seen?.entry.owner !== entry.owner) return undefined;
      ({ revision } = seen);
    }
    lease.proven();
    return new HeldCall({ id: call.id, ledger, lease, held: entry, revision, ttl });
  }

  /** Step W7 without a run; false when another was faster. */
  async #giveUp(
    delivery: Delivery<QueuedCall>,
    call: QueuedCall,
    lease: Lease,
    found: LedgerEntry,
    reason: "crash" | "expired",
  ): Promise<boolean> {
    const now = Date.now();
    const status = reason === "crash" ? 502 : 504;
    const end = { now, status, duration: 0, error: reason };
    const ended = endedEntry(found.entry, { state: "failed", reason, end, result: null });
    const ttl = ttlOf(this.#parts, ended);
    const entry: CallEntry = { ...ended, expires: now + ttl };
    const revision = await this.#parts.ledger.update(call.id, entry, found.revision, ttl).catch(() => undefined);
    if (revision === undefined) return false;
    this.#parts.signals.ended(call.id);
    this.#parts.metrics.processed.inc({ queue_name: delivery.queue });
    this.#parts.log.warn({ callId: call.id, functionName: formatRef(call.function), reason }, "call was given up");
    await settleCall(this.#parts, { id: call.id, found: { entry, revision }, delivery, lease, depth: call.depth });
    return true;
  }

  #rulesOf(call: QueuedCall): RetryRules {
    const limits = limitsOf(this.#parts.table.findKey(formatRef(call.function)));
    return { ...this.#parts.queue.retry, ...limits?.retry };
  }

  #freshEntry(call: QueuedCall): CallEntry {
    return acceptedEntry(call, {
      digest: callDigest(call),
      maxRetries: this.#rulesOf(call).attempts,
      expires: Date.now() + openTtl(this.#parts.times),
    });
  }
}
