import type { CallEntry } from "../calls/call-entry.ts";
import type { CallChange } from "../ports/call-history.ts";
import type { DeadLetterFacts } from "../ports/dead-letters.ts";

/** Less than that of any record. */
const revision = 0;

/**
 * What a dead letter tells of a call of which nothing else is known; undefined if that is not how it ended. A callback
 * that was given up does not say what became of its call.
 */
export function letterChange(letter: DeadLetterFacts): CallChange | undefined {
  const { kind, id, queue, function: ref, reason, attempts, lastStatus, acceptedAt, deadAt, redrives } = letter;
  if (kind !== "call" || reason === "callback" || ref === undefined) return undefined;
  const entry: CallEntry = {
    v: 2,
    state: "failed",
    queue,
    namespace: ref.namespace,
    function: ref.name,
    digest: "",
    accepted: String(BigInt(Math.floor(acceptedAt)) * 1_000_000n),
    run: attempts,
    retries: Math.max(0, attempts - 1),
    lost: 0,
    owner: null,
    next: null,
    attempts: [],
    ended: deadAt,
    reason,
    status: lastStatus ?? null,
    result: null,
    pending: [],
    callback: null,
    maxRetries: Math.max(0, attempts - 1),
    parent: null,
    expires: deadAt,
    redrives,
  };
  return { kind: "entry", id, revision, entry };
}
