import type { TimelineStep } from "../../../../api/schemas/history/timeline-step.ts";

const words: Readonly<Record<TimelineStep["kind"], string>> = {
  accepted: "Accepted",
  taken: "Taken",
  started: "Sent",
  answered: "Answered",
  retry: "To be retried",
  lost: "Worker lost",
  handedBack: "Handed back",
  cancelled: "Cancelled",
  ended: "Ended",
  deadLetter: "Dead letter",
  redriven: "Redriven",
  callbackTry: "Callback sent",
  callbackEnded: "Callback ended",
  expired: "Expired",
};

/** What happened, in words; a newer gateway may know kinds that this page does not. */
export function stepWords({ kind }: Pick<TimelineStep, "kind">): string {
  return (words as Readonly<Record<string, string>>)[kind] ?? kind;
}

/** Who or what a step was about: a replica, a queue-worker. */
export function stepPlace({ replica, worker }: TimelineStep): string {
  return [replica, worker].filter((one) => one !== undefined).join(", ");
}
