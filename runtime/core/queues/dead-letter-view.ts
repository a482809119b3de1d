import type { DeadLetterView } from "../../api/schemas/queue-status.ts";
import type { StoredDeadLetter } from "../ports/dead-letters.ts";

/** A dead letter as clients see it (contract §2): without headers, body and address, but with advice. */
export function deadLetterView(letter: StoredDeadLetter): DeadLetterView {
  return {
    callId: letter.id,
    ...(letter.function === undefined
      ? {}
      : { functionName: letter.function.name, namespace: letter.function.namespace }),
    reason: letter.reason,
    attempts: letter.attempts,
    ...(letter.lastStatus === undefined ? {} : { lastStatus: letter.lastStatus }),
    acceptedAt: new Date(letter.acceptedAt).toISOString(),
    deadAt: new Date(letter.deadAt).toISOString(),
    size: letter.size,
    advice: adviceOn(letter),
  };
}

/** What a person can do about it, in one sentence. */
export function adviceOn({ reason, function: ref, lastStatus }: StoredDeadLetter): string {
  const name = ref === undefined ? "the function" : `function "${ref.name}"`;
  const status = lastStatus === undefined ? "no status" : `status ${lastStatus}`;
  switch (reason) {
    case "exhausted":
      return `No retry was left, the last one ended with ${status}: fix ${name}, then redrive the call, or delete it.`;
    case "crash":
      return `Its queue-workers ended while ${name} ran it: look into their logs and memory, then redrive the call, or delete it.`;
    case "expired":
      return "It grew too old before it could run: give the queue more slots or workers, then redrive the call, or delete it.";
    case "callback":
      return `The call itself is over, but its callback could not be delivered (${status}): fix the receiver, then redrive to send the callback again, or delete it.`;
    case "undecodable":
      return "It cannot be read as a call, so it cannot run: find out who wrote it into the queue, then delete it.";
    default:
      return reason satisfies never;
  }
}
