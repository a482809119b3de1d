import type { CallEntry } from "../../../core/calls/call-entry.ts";
import type { QueueState, QueueStates } from "../../../core/ports/queue-states.ts";
import { queuePosition } from "../../../core/queues/queue-position.ts";

const freshFor = 500;

/** Estimates the positions of calls in their queues; reads the state of a queue at most twice a second. */
export class QueuePositions {
  readonly #states: QueueStates;
  readonly #reads = new Map<string, { readonly at: number; readonly state: Promise<QueueState | undefined> }>();

  constructor(states: QueueStates) {
    this.#states = states;
  }

  /** 1 = next; undefined if the call is not queued or the state of its queue cannot be read. */
  async of({ state, queue, accepted }: Pick<CallEntry, "state" | "queue" | "accepted">): Promise<number | undefined> {
    if (state !== "queued") return undefined;
    const found = await this.#stateOf(queue);
    return found === undefined ? undefined : queuePosition(found, Number(BigInt(accepted) / 1_000_000n));
  }

  #stateOf(queue: string): Promise<QueueState | undefined> {
    const now = performance.now();
    const last = this.#reads.get(queue);
    if (last !== undefined && now - last.at < freshFor) return last.state;
    // The position is optional: a reply with the call's record must not fail for want of it.
    const state = this.#states.read(queue).catch(() => undefined);
    this.#reads.set(queue, { at: now, state });
    return state;
  }
}
