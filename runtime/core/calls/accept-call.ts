import { PlatformError } from "../../api/platform-error.ts";
import { named, publicly } from "../../api/public-sentence.ts";
import { callDigest, derivedCallId } from "./call-digest.ts";
import { acceptedEntry } from "./call-transitions.ts";
import type { QueuedCall } from "./call.ts";
import type { CallLedger } from "../ports/call-ledger.ts";
import type { CallQueue } from "../ports/call-queue.ts";
import { refusedPut } from "../queues/queue-refusal.ts";
import { secondsSince } from "../seconds-since.ts";

/** Longest an acceptance may wait for the queue, milliseconds (contract §4.2). */
export const acceptBudget = 3_000;

export interface AcceptParts {
  readonly calls: CallQueue;
  readonly ledger: CallLedger;
}

/** What the reply to the client holds: the id to use and the time of the first acceptance, Unix nanoseconds. */
export interface Accepted {
  readonly id: string;
  readonly start: bigint;
}

/**
 * Accepts a call: its record first (step G2), then the call itself (G3). When it resolves the call is stored. A
 * repeated id with the same digest resolves alike and runs once; with another digest it is stored under an id derived
 * from both. `replayOf` is the call that it replays.
 * @throws PlatformError `queue_full` or `queue_unavailable`, saying whether the call may run anyway
 */
export async function acceptCall(
  parts: AcceptParts,
  sent: QueuedCall,
  maxRetries: number,
  replayOf?: string,
): Promise<Accepted> {
  const began = performance.now();
  const until = began + acceptBudget;
  const digest = callDigest(sent);
  const replay = replayOf === undefined ? {} : { replayOf };
  const entryOf = (call: QueuedCall) => acceptedEntry(call, { digest, maxRetries, ...replay });

  let call = sent;
  let outcome = await parts.ledger.create(call.id, entryOf(call), until);
  if (outcome.kind === "exists" && outcome.found.entry.digest !== digest) {
    call = { ...sent, id: derivedCallId(sent.id, digest), parentId: sent.id };
    outcome = await parts.ledger.create(call.id, entryOf(call), until);
  }
  switch (outcome.kind) {
    case "created":
      return publish(parts, call, outcome.revision, began);
    case "exists": {
      const { entry } = outcome.found;
      const start = BigInt(entry.accepted);
      if (entry.state !== "queued") return { id: call.id, start };
      return publish(parts, { ...call, start }, undefined, began);
    }
    case "refused":
      throw refusedPut(publicly`queue call ${named(call.id)}`, call.queue, outcome.because, outcome.cause);
    case "unknown":
      throw unknown(call.id, began, outcome.cause);
    default:
      return outcome satisfies never;
  }
}

/** `revision` is set if this request created the record: only then may a refusal remove it. */
async function publish(
  parts: AcceptParts,
  call: QueuedCall,
  revision: number | undefined,
  began: number,
): Promise<Accepted> {
  const outcome = await parts.calls.put(call, began + acceptBudget);
  switch (outcome.kind) {
    case "stored":
      return { id: call.id, start: call.start };
    case "refused":
      if (revision === undefined) throw unknown(call.id, began, outcome.cause);
      void parts.ledger.withdraw(call.id, revision);
      throw refusedPut(publicly`queue call ${named(call.id)}`, call.queue, outcome.because, outcome.cause);
    case "unknown":
      throw unknown(call.id, began, outcome.cause);
    default:
      return outcome satisfies never;
  }
}

function unknown(id: string, began: number, cause: unknown): PlatformError {
  return new PlatformError(
    "queue_unavailable",
    publicly`Cannot queue call ${named(id)}: no answer from the queue in ${secondsSince(began)}; send it again under this id and it runs once`,
    { callQueued: "unknown", callId: id, retryAfterSeconds: 1, cause },
  );
}
