import type { CallEntry } from "../../../core/calls/call-entry.ts";
import type { QueueState, QueueStates } from "../../../core/ports/queue-states.ts";
import { queuePosition } from "../../../core/queues/queue-position.ts";

const freshFor = 500;

/** Estimates where calls stand in their queues; asks for the state of a queue at most twice a second. */
export class QueuePositions {
  readonly #states: QueueStates;
  readonly #asked = new Map<string, { readonly at: number; readonly state: Promise<QueueState | undefined> }>();

  constructor(states: QueueStates) {
    this.#states = states;
  }

  /** 1 = next; undefined unless the call is queued, and when the queue cannot be looked into. */
  async of({ state, queue, accepted }: Pick<CallEntry, "state" | "queue" | "accepted">): Promise<number | undefined> {
    if (state !== "queued") return undefined;
    const found = await this.#stateOf(queue);
    return found === undefined ? undefined : queuePosition(found, Number(BigInt(accepted) / 1_000_000n));
  }

  #stateOf(queue: string): Promise<QueueState | undefined> {
    const now = performance.now();
    const last = this.#asked.get(queue);
    if (last !== undefined && now - last.at < freshFor) return last.state;
    // The record is the answer, the position an extra: it must not fail for that.
    const state = this.#states.read(queue).catch(() => undefined);
    this.#asked.set(queue, { at: now, state });
    return state;
  }
}
