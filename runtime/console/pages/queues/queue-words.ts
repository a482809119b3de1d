import type { QueueStatus } from "../../../api/schemas/queue-status.ts";
import type { Tone } from "../../parts/texts/state-badge.tsx";

/** What a queue does, in one or two words. */
export interface QueueWords {
  readonly tone: Tone;
  readonly state: string;
}

/** A queue whose calls wait for something that people should know of says so in `why`. */
export function queueWords({ queued, waiting, running, workers, limit, why }: QueueStatus): QueueWords {
  const held = queued + waiting + running;
  if (held >= limit) return { tone: "bad", state: "full" };
  if (workers === 0) return { tone: held > 0 ? "bad" : "warn", state: "no worker" };
  if (why !== undefined && queued > 0) return { tone: "warn", state: "calls wait" };
  if (running > 0 || queued > 0) return { tone: "busy", state: "runs calls" };
  if (waiting > 0) return { tone: "warn", state: "retries wait" };
  return { tone: "good", state: "empty" };
}
