import { formatDuration } from "../../api/duration.ts";
import type { QueueStatus } from "../../api/schemas/queue-status.ts";
import type { QueueDeclaration } from "../ports/queue-catalog.ts";
import type { QueueState } from "../ports/queue-states.ts";
import { moreSlots, type QueuePlace } from "./queue-remedy.ts";
import type { WorkersSum } from "./worker-sums.ts";

/** What the status of a queue is built from. */
export interface QueueFigures {
  /** Undefined while the store of the queue is missing. */
  readonly state: QueueState | undefined;
  readonly workers: WorkersSum;
  readonly deadLetters: number;
}

const empty: QueueState = {
  fresh: 0,
  onLoan: 0,
  first: 0,
  last: 0,
  firstAt: undefined,
  lastAt: undefined,
  delivered: 0,
  now: 0,
};

/** A queue as clients see it (contract §2), with why calls wait and what to do about it at `place`. */
export function queueStatus(queue: QueueDeclaration, figures: QueueFigures, place: QueuePlace): QueueStatus {
  const state = figures.state ?? empty;
  const running = Math.min(figures.workers.running, state.onLoan);
  const facts = { queued: state.fresh, waiting: state.onLoan - running, running };
  const why =
    figures.state === undefined ? missing : waitReason(queue, { ...facts, slots: figures.workers.slots }, place);
  return {
    name: queue.name,
    ...facts,
    deadLetters: figures.deadLetters,
    // The one queue-worker of a machine counts as several when it has slots for several.
    workers: Math.ceil(figures.workers.slots / queue.maxInflight),
    maxInflight: queue.maxInflight,
    timeout: formatDuration(queue.timeout),
    ackWait: formatDuration(queue.ackWait),
    oldestAgeSeconds: Math.max(0, state.now - (state.firstAt ?? state.now)) / 1_000,
    limit: queue.maxLength,
    ...(why === undefined ? {} : { why }),
  };
}

const missing = "Its store is gone from the broker, and its calls with it: see the log of the queue-doctor.";

/** Why calls of a queue wait and what to do about it; undefined when none does. */
export function waitReason(
  { name, strict, ackWait, maxInflight }: Pick<QueueDeclaration, "name" | "strict" | "ackWait" | "maxInflight">,
  { queued, waiting, running, slots }: Readonly<Record<"queued" | "waiting" | "running" | "slots", number>>,
  place: QueuePlace,
): string | undefined {
  if (queued === 0 && waiting === 0) return undefined;
  if (slots === 0) {
    return strict
      ? `No queue-worker holds this strict queue: the next one waits ${formatDuration(ackWait + 2_000)} after another; make sure that one runs with queue=${name}.`
      : `No queue-worker takes from it: start one with queue=${name}, or look why it ended.`;
  }
  if (strict && waiting > 0)
    return "Its first call waits for a retry, and a strict queue lets no other pass: see dead letters and records.";
  if (queued > 0 && running >= slots) {
    const busy = slots === 1 ? "The only slot runs a call" : `All ${slots} slots run calls`;
    return strict
      ? `${busy}, as a strict queue has no more: make the function faster, or use a queue that is not strict.`
      : `${busy}: ${moreSlots({ name, maxInflight }, place)} if this takes too long.`;
  }
  if (queued > 0) return "Its queue-workers have free slots and take the next calls now.";
  return "Calls wait for their next attempt; nextAttemptAt in the record of each says when.";
}
