import type { Delivery } from "../ports/call-queue.ts";
import type { DeadLetter } from "../ports/dead-letters.ts";

/** Dead letter of a message that cannot be read, as received, for people; `deadAt` is in Unix milliseconds. */
export function unreadableLetter(
  { kind, id, queue }: Pick<DeadLetter, "kind" | "id" | "queue">,
  { raw, storedAt }: Pick<Delivery<unknown>, "raw" | "storedAt">,
  deadAt: number,
): DeadLetter {
  return {
    kind,
    id,
    queue,
    function: undefined,
    reason: "undecodable",
    attempts: 0,
    lastStatus: undefined,
    acceptedAt: storedAt,
    deadAt,
    redrives: 0,
    headers: raw.headers,
    body: raw.body,
  };
}
