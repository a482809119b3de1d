import type { QueuedCall } from "../../core/calls/call.ts";
import type { Delivery } from "../../core/ports/call-queue.ts";
import { DetachedCalls, type Slot } from "./detached-calls.ts";
import { deadLetterUnreadable } from "./dead-letter-unreadable.ts";
import { CallProtocol } from "./call-protocol.ts";
import { CurrentRuns } from "./current-run.ts";
import { Lease } from "../lease.ts";
import type { QueueTurn } from "./queue-turn.ts";
import { StrictWaits } from "./strict-waits.ts";
import type { WorkerParts } from "../worker-parts.ts";

/** Most calls that wait for room outside their slots; each may hold an output of up to the largest size. */
const maxDetached = 32;

/** Handles the deliveries of one queue; knows which runs are in flight. */
export class CallHandler {
  readonly #parts: WorkerParts;
  readonly #runs = new CurrentRuns();
  readonly #waits = new StrictWaits();
  readonly #detached: DetachedCalls;
  readonly #protocol: CallProtocol;
  readonly #abandon: AbortSignal;

  /** When `abandon` aborts, all leases are lost. */
  constructor(parts: WorkerParts, abandon: AbortSignal) {
    this.#parts = parts;
    this.#abandon = abandon;
    // A call that left the one slot of a strict queue would let the next one overtake it.
    this.#detached = new DetachedCalls(parts.queue.strict ? 0 : maxDetached);
    this.#protocol = new CallProtocol(parts, { runs: this.#runs, waits: this.#waits });
  }

  /** Runs in flight. */
  get running(): number {
    return this.#runs.size;
  }

  /** A call is reported as cancelled: if it runs here, its record is checked. */
  heardCancelled(id: string): void {
    this.#runs.find(id)?.heardCancelled();
    this.#waits.wake(id);
  }

  /** From now on calls that wait in this worker are handed back instead. */
  stopWaiting(): void {
    this.#waits.stop();
    this.#detached.stop();
  }

  /** From now on runs are aborted and their calls handed back to the queue. */
  handBack(): void {
    this.#runs.handBack();
  }

  /** Resolves when no call continues outside the slots. */
  idle(): Promise<void> {
    return this.#detached.idle();
  }

  /**
   * Handles one delivery; never rejects. When it resolves the slot is free, and the call is settled, requeued, lost to
   * another worker, or continues outside the slot. `turn` is that of a strict queue; no lease outlives it.
   */
  handle(delivery: Delivery<QueuedCall>, turn?: QueueTurn): Promise<void> {
    return this.#detached.inSlot(async (slot) => {
      const lease = this.#leaseOf(delivery, turn);
      try {
        await this.#process(delivery, lease, slot);
      } catch (err) {
        const { queue, sequence } = delivery;
        this.#parts.log.error({ err, queue, sequence }, "cannot process a call; it will be redelivered");
      } finally {
        lease.close();
      }
    });
  }

  #process(delivery: Delivery<QueuedCall>, lease: Lease, slot: Slot): Promise<void> {
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
    lease.loseWith(this.#abandon);
    if (turn !== undefined) lease.loseWith(turn.lost);
    return lease;
  }
}
