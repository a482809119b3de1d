import type { QueuedCall } from "../../core/calls/call.ts";
import type { Delivery } from "../../core/ports/call-queue.ts";
import { Aside, type Slot } from "./aside.ts";
import { deadLetterUnreadable } from "./bury-unreadable.ts";
import { CallProtocol } from "./call-protocol.ts";
import { CurrentRuns } from "./current-run.ts";
import { Lease } from "../lease.ts";
import type { QueueTurn } from "./queue-turn.ts";
import { StrictWaits } from "./strict-waits.ts";
import type { WorkerParts } from "../worker-parts.ts";

/** Calls whose outputs or callbacks wait outside their slots for room, each with an output of the most bytes at most. */
const mostAside = 32;

/** Deals with the deliveries of one queue; knows which runs are under way. */
export class CallHandler {
  readonly #parts: WorkerParts;
  readonly #runs = new CurrentRuns();
  readonly #waits = new StrictWaits();
  readonly #aside: Aside;
  readonly #protocol: CallProtocol;
  readonly #letGo: AbortSignal;

  /** When `letGo` aborts all leases are lost. */
  constructor(parts: WorkerParts, letGo: AbortSignal) {
    this.#parts = parts;
    this.#letGo = letGo;
    // The one slot of a strict queue is its order.
    this.#aside = new Aside(parts.queue.strict ? 0 : mostAside);
    this.#protocol = new CallProtocol(parts, { runs: this.#runs, waits: this.#waits });
  }

  /** Runs under way. */
  get running(): number {
    return this.#runs.size;
  }

  /** Word came that a call was cancelled: looks at its record if it runs here. */
  heardCancelled(id: string): void {
    this.#runs.find(id)?.heardCancelled();
    this.#waits.wake(id);
  }

  /** From now on calls that wait in this worker's hands are given back instead. */
  stopWaiting(): void {
    this.#waits.stop();
    this.#aside.stop();
  }

  /** From now on runs are cut off and their calls handed back to the queue. */
  handBack(): void {
    this.#runs.handBack();
  }

  /** Resolves when nothing is left to be done outside the slots. */
  idle(): Promise<void> {
    return this.#aside.idle();
  }

  /**
   * Deals with one delivery; never rejects. When it resolves the slot is free, and the call is settled, put back, lost to
   * another, or goes on outside the slot. `turn` is that of a strict queue, without which no lease holds.
   */
  handle(delivery: Delivery<QueuedCall>, turn?: QueueTurn): Promise<void> {
    return this.#aside.inSlot(async (slot) => {
      const lease = this.#leaseOf(delivery, turn);
      try {
        await this.#deal(delivery, lease, slot);
      } catch (err) {
        const { queue, sequence } = delivery;
        this.#parts.log.error({ err, queue, sequence }, "cannot process a call; it will be redelivered");
      } finally {
        lease.close();
      }
    });
  }

  #deal(delivery: Delivery<QueuedCall>, lease: Lease, slot: Slot): Promise<void> {
    const { content } = delivery;
    return "unreadable" in content
      ? deadLetterUnreadable(this.#parts, delivery, lease, content.unreadable, slot)
      : this.#protocol.follow({ call: content.read, delivery, lease, slot });
  }

  #leaseOf(delivery: Delivery<QueuedCall>, turn: QueueTurn | undefined): Lease {
    const lease = new Lease({
      ackWait: this.#parts.times.ackWait,
      deliveredAt: delivery.deliveredAt,
      extend: () => turn?.fresh !== false && delivery.extend(),
    });
    lease.loseWith(this.#letGo);
    if (turn !== undefined) lease.loseWith(turn.lost);
    return lease;
  }
}
