import type { QueuedCall } from "../../core/calls/call.ts";
import type { Delivery } from "../../core/ports/call-queue.ts";
import { QueueTurn } from "./queue-turn.ts";
import type { WorkerParts } from "../worker-parts.ts";

/** Takes calls from a strict queue, one at a time and only while this worker has the turn. */
export class TurnTaker {
  readonly #parts: Pick<WorkerParts, "queue" | "leases" | "deliveries">;
  readonly #handle: (delivery: Delivery<QueuedCall>, turn: QueueTurn) => Promise<void>;
  #turn: QueueTurn | undefined;

  constructor(
    parts: Pick<WorkerParts, "queue" | "leases" | "deliveries">,
    handle: (delivery: Delivery<QueuedCall>, turn: QueueTurn) => Promise<void>,
  ) {
    this.#parts = parts;
    this.#handle = handle;
  }

  /** Whether this worker has the turn now. */
  get hasTurn(): boolean {
    return this.#turn !== undefined;
  }

  /** Takes calls until `stop` aborts; resolves after the last one. */
  async take(stop: AbortSignal): Promise<void> {
    const { queue, leases, deliveries } = this.#parts;
    while (!stop.aborted) {
      const turn = await QueueTurn.wait(leases, queue, stop);
      if (turn === undefined) return;
      this.#turn = turn;
      try {
        const until = AbortSignal.any([stop, turn.lost]);
        await deliveries.take(
          1,
          (delivery) => this.#process(delivery, turn),
          until,
          () => turn.fresh,
        );
      } finally {
        this.#turn = undefined;
        await turn.end();
      }
    }
  }

  /** A worker that was suspended may receive a call after it lost the turn. */
  async #process(delivery: Delivery<QueuedCall>, turn: QueueTurn): Promise<void> {
    if (await turn.confirm()) await this.#handle(delivery, turn);
    else delivery.requeue(0);
  }
}
