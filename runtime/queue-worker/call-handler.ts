import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

import type { UnstampedEntry } from "../core/call-entry.ts";
import { callDigest } from "../core/call-digest.ts";
import { acceptedEntry, endedEntry, takenEntry } from "../core/call-transitions.ts";
import type { QueuedCall } from "../core/call.ts";
import { decideDelivery } from "../core/decide-delivery.ts";
import { formatRef } from "../core/function-ref.ts";
import type { LedgerEntry } from "../core/ports/call-ledger.ts";
import type { Delivery } from "../core/ports/call-queue.ts";
import type { RetryRules } from "../core/retry.ts";
import { traceIdIn } from "../core/trace-parent.ts";
import { buryUnreadable } from "./bury-unreadable.ts";
import { HeldCall } from "./held-call.ts";
import { Lease } from "./lease.ts";
import { limitsOf } from "./run-function.ts";
import { HeldRun } from "./held-run.ts";
import type { QueueTurn } from "./queue-turn.ts";
import type { RunEnding } from "./run-ending.ts";
import { settleCall } from "./settle-call.ts";
import { StrictWaits } from "./strict-waits.ts";
import type { WorkerParts } from "./worker-parts.ts";

/** A call does not change its record this often between two looks. */
const mostLooks = 20;
const pauseAfterFailure = 250;
/** Calls whose outputs wait outside their slots for room, each at most as long as a result may be. */
const mostAside = 32;

/** Deals with the deliveries of one queue, steps W1 to W10; knows which runs are under way. */
export class CallHandler {
  readonly #parts: WorkerParts;
  readonly #runs = new Map<string, HeldRun>();
  readonly #waits = new StrictWaits();
  readonly #aside = new Set<Promise<void>>();
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
    this.#waits.wake(id);
  }

  /** From now on calls that wait in this worker's hands are given back instead. */
  stopWaiting(): void {
    this.#waits.stop();
  }

  /** From now on runs are cut off and their calls handed back to the queue. */
  handBack(): void {
    this.#handBack = true;
    for (const run of this.#runs.values()) run.handBack();
  }

  /** Resolves when nothing is left to be done outside the slots. */
  async idle(): Promise<void> {
    while (this.#aside.size > 0) await Promise.all(this.#aside);
  }

  /**
   * Deals with one delivery; never rejects. When it resolves the slot is free, and the call is settled, put back, lost to
   * another, or goes on outside the slot. `turn` is that of a strict queue, without which no lease holds.
   */
  async handle(delivery: Delivery<QueuedCall>, turn?: QueueTurn): Promise<void> {
    const { times } = this.#parts;
    const lease = new Lease({
      ackWait: times.ackWait,
      deliveredAt: delivery.deliveredAt,
      extend: () => turn?.fresh !== false && delivery.extend(),
    });
    if (turn !== undefined) lease.loseWith(turn.lost);
    let rest: RunEnding = "over";
    try {
      if ("unreadable" in delivery.content)
        await buryUnreadable(this.#parts, delivery, lease, delivery.content.unreadable);
      else rest = await this.#deal(delivery, delivery.content.read, lease);
    } catch (err) {
      this.#failed(delivery, err);
    } finally {
      if (typeof rest !== "function") lease.close();
    }
    if (typeof rest !== "function") return;
    const going = rest()
      .catch((err: unknown) => this.#failed(delivery, err))
      .finally(() => {
        lease.close();
        this.#aside.delete(going);
      });
    this.#aside.add(going);
  }

  #failed(delivery: Delivery<QueuedCall>, err: unknown): void {
    const { queue, sequence } = delivery;
    this.#parts.log.error({ err, queue, sequence }, "cannot deal with a call; it will be offered again");
  }

  async #deal(delivery: Delivery<QueuedCall>, call: QueuedCall, lease: Lease): Promise<RunEnding> {
    const { ledger, times, metrics, queue } = this.#parts;
    for (let look = 0; look < mostLooks && !lease.lost.aborted; look++) {
      let found: LedgerEntry | undefined;
      try {
        found = await ledger.read(call.id);
      } catch {
        await pause(pauseAfterFailure);
        continue;
      }
      const decision = decideDelivery(found, delivery.storedAt, ledger.now(), times);
      switch (decision.action) {
        case "create-record":
          await ledger.create(call.id, this.#freshEntry(call), performance.now() + 3_000);
          break;
        case "finish":
          if (found === undefined) break;
          await settleCall(this.#parts, { id: call.id, found, delivery, lease, depth: call.depth });
          return "over";
        case "put-back":
          if (queue.strict && !this.#waits.stopped) {
            await this.#waits.wait(call.id, decision.delay, lease.lost);
            look = 0;
            break;
          }
          metrics.putBack.inc({ queue_name: delivery.queue, because: decision.because });
          lease.close();
          delivery.putBack(queue.strict ? 0 : decision.delay);
          return "over";
        case "give-up":
          if (found !== undefined && (await this.#giveUp(delivery, call, lease, found, decision.reason))) return "over";
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
          const ending = await this.#run(delivery, call, lease, held);
          if (ending !== "waiting") return ending;
          break;
        }
        default:
          decision satisfies never;
      }
    }
    return "over";
  }

  async #run(delivery: Delivery<QueuedCall>, call: QueuedCall, lease: Lease, held: HeldCall): Promise<RunEnding> {
    const mayWait = (): boolean => !this.#parts.queue.strict && this.#aside.size < mostAside;
    const run = new HeldRun(this.#parts, delivery, call, lease, held, mayWait);
    this.#runs.set(call.id, run);
    if (this.#handBack) run.handBack();
    const queue = { queue_name: delivery.queue };
    this.#parts.metrics.inflight.inc(queue);
    // After a takeover the call may run here a second time, while the first run still winds down.
    const forget = (): void => {
      if (this.#runs.get(call.id) === run) this.#runs.delete(call.id);
    };
    let rest: RunEnding = "over";
    try {
      rest = await run.go(this.#rulesOf(call));
    } finally {
      this.#parts.metrics.inflight.dec(queue);
      if (typeof rest !== "function") forget();
    }
    const going = rest;
    return typeof going === "function" ? () => going().finally(forget) : going;
  }

  /** Step W2; undefined when another was faster or nobody answered: look again. */
  async #take(call: QueuedCall, lease: Lease, found: LedgerEntry, takeover: boolean): Promise<HeldCall | undefined> {
    const { ledger } = this.#parts;
    const maxRetries = this.#rulesOf(call).attempts;
    const entry = takenEntry(found.entry, { owner: randomUUID(), takeover, now: ledger.now(), maxRetries });
    const sentAt = performance.now();
    let revision = await ledger.update(call.id, entry, found.revision).catch(() => undefined);
    if (revision === undefined) {
      // Also a write that was repeated because its answer was lost finds another revision: its own.
      const seen = await ledger.read(call.id).catch(() => undefined);
      if (seen?.entry.owner !== entry.owner) return undefined;
      ({ revision } = seen);
    }
    lease.proven(sentAt);
    return new HeldCall({ id: call.id, ledger, lease, held: entry, revision });
  }

  /** Step W7 without a run; false when another was faster. */
  async #giveUp(
    delivery: Delivery<QueuedCall>,
    call: QueuedCall,
    lease: Lease,
    found: LedgerEntry,
    reason: "crash" | "expired",
  ): Promise<boolean> {
    const now = this.#parts.ledger.now();
    const status = reason === "crash" ? 502 : 504;
    const end = { now, status, duration: 0, error: reason };
    const entry = endedEntry(found.entry, { state: "failed", reason, end, result: null });
    const revision = await this.#parts.ledger.update(call.id, entry, found.revision).catch(() => undefined);
    if (revision === undefined) return false;
    this.#parts.signals.ended(call.id);
    this.#parts.metrics.processed.inc({ queue_name: delivery.queue });
    const functionName = formatRef(call.function);
    const traceId = traceIdIn(call.headers);
    this.#parts.log.warn({ callId: call.id, functionName, traceId, reason }, "call was given up");
    await settleCall(this.#parts, { id: call.id, found: { entry, revision }, delivery, lease, depth: call.depth });
    return true;
  }

  #rulesOf(call: QueuedCall): RetryRules {
    const limits = limitsOf(this.#parts.table.findKey(formatRef(call.function)));
    return { ...this.#parts.queue.retry, ...limits?.retry };
  }

  #freshEntry(call: QueuedCall): UnstampedEntry {
    return acceptedEntry(call, {
      digest: callDigest(call),
      maxRetries: this.#rulesOf(call).attempts,
    });
  }
}
