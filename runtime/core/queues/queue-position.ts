import type { QueueState } from "../ports/queue-states.ts";

/**
 * Position of a queued call in its queue, 1 = next: estimated by interpolating its time of acceptance (Unix
 * milliseconds) between those of the first and the last call in the queue.
 */
export function queuePosition(state: QueueState, acceptedAt: number): number {
  const { first, last, firstAt, lastAt, delivered, fresh } = state;
  if (firstAt === undefined || lastAt === undefined || fresh === 0) return 1;
  const span = lastAt - firstAt;
  const share = span <= 0 ? 1 : Math.min(Math.max((acceptedAt - firstAt) / span, 0), 1);
  const position = Math.round(first + share * (last - first)) - delivered;
  return Math.min(Math.max(position, 1), fresh);
}
