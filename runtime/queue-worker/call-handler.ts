import type { QueuedCall } from "../core/call.ts";
import { formatRef } from "../core/function-ref.ts";
import type { Delivery } from "../core/ports/call-queue.ts";
import type { RetryRules } from "../core/retry.ts";
import { traceIdIn } from "../core/trace-parent.ts";
import { buryUnreadable } from "./bury-unreadable.ts";
import { claimCall } from "./claim-call.ts";
import type { HeldCall } from "./held-call.ts";
import { Lease } from "./lease.ts";
import { limitsOf } from "./run-function.ts";
import { HeldRun } from "./held-run.ts";
import type { QueueTurn } from "./queue-turn.ts";
import type { RunEnding } from "./run-ending.ts";
import { settleCall, type Aside } from "./settle-call.ts";
import { StrictWaits } from "./strict-waits.ts";
import type { WorkerParts } from "./worker-parts.ts";

/** Calls whose outputs or callbacks wait outside their slots for room, each with an output of the most bytes at most. */
const mostAside = 32;

/** Deals with the deliveries of one queue, steps W1 to W10; knows which runs are under way. */
export class CallHandler {
  readonly #parts: WorkerParts;
  readonly #runs = new Map<string, HeldRun>();
  readonly #waits = new StrictWaits();
  readonly #waiting = new Set<Promise<void>>();
  readonly #stopWaiting = new AbortController();
  readonly #aside: Aside;
  readonly #letGo: AbortSignal;
  #handBack = false;

  /** When `letGo` aborts all leases are lost. */
  constructor(parts: WorkerParts, letGo: AbortSignal) {
    this.#parts = parts;
    this.#letGo = letGo;
    this.#aside = {
      mayWait: () => !parts.queue.strict && this.#waiting.size < mostAside && !this.#stopWaiting.signal.aborted,
      stop: this.#stopWaiting.signal,
    };
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
    this.#stopWaiting.abort();
  }

  /** From now on runs are cut off and their calls handed back to the queue. */
  handBack(): void {
    this.#handBack = true;
    for (const run of this.#runs.values()) run.handBack();
  }

  /** Resolves when nothing is left to be done outside the slots. */
  async idle(): Promise<void> {
    while (this.#waiting.size > 0) await Promise.all(this.#waiting);
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
    lease.loseWith(this.#letGo);
    if (turn !== undefined) lease.loseWith(turn.lost);
    let rest: RunEnding = "over";
    try {
      if ("unreadable" in delivery.content)
        rest = await buryUnreadable(this.#parts, delivery, lease, delivery.content.unreadable, this.#aside);
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
        this.#waiting.delete(going);
      });
    this.#waiting.add(going);
  }

  #failed(delivery: Delivery<QueuedCall>, err: unknown): void {
    const { queue, sequence } = delivery;
    this.#parts.log.error({ err, queue, sequence }, "cannot deal with a call; it will be offered again");
  }

  async #deal(delivery: Delivery<QueuedCall>, call: QueuedCall, lease: Lease): Promise<RunEnding> {
    const { metrics, queue } = this.#parts;
    while (!lease.lost.aborted) {
      const claim = await claimCall(this.#parts, delivery, call, lease, this.#rulesOf(call).attempts);
      switch (claim.kind) {
        case "lost":
          return "over";
        case "over":
          if (claim.reason !== undefined) this.#gaveUp(delivery, call, claim.reason);
          return settleCall(
            this.#parts,
            { id: call.id, record: claim.record, delivery, lease, depth: call.depth },
            this.#aside,
          );
        case "put-back":
          if (queue.strict && !this.#waits.stopped) {
            await this.#waits.wait(call.id, claim.delay, lease.lost);
            break;
          }
          metrics.putBack.inc({ queue_name: delivery.queue, because: claim.because });
          lease.close();
          delivery.putBack(queue.strict ? 0 : claim.delay);
          return "over";
        case "taken": {
          if (!claim.takeover && claim.held.entry.run === 1) {
            const waited = Math.max(0, Date.now() - Number(call.start / 1_000_000n)) / 1_000;
            metrics.wait.observe({ queue_name: delivery.queue }, waited);
          }
          const ending = await this.#run(delivery, call, lease, claim.held);
          if (ending !== "waiting") return ending;
          break;
        }
        default:
          claim satisfies never;
      }
    }
    return "over";
  }

  async #run(delivery: Delivery<QueuedCall>, call: QueuedCall, lease: Lease, held: HeldCall): Promise<RunEnding> {
    const run = new HeldRun(this.#parts, delivery, call, lease, held, this.#aside);
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

  #gaveUp(delivery: Delivery<QueuedCall>, call: QueuedCall, reason: "crash" | "expired"): void {
    this.#parts.signals.ended(call.id);
    this.#parts.metrics.processed.inc({ queue_name: delivery.queue });
    const functionName = formatRef(call.function);
    const traceId = traceIdIn(call.headers);
    this.#parts.log.warn({ callId: call.id, functionName, traceId, reason }, "call was given up");
  }

  #rulesOf(call: QueuedCall): RetryRules {
    const limits = limitsOf(this.#parts.table.findKey(formatRef(call.function)));
    return { ...this.#parts.queue.retry, ...limits?.retry };
  }
}
