import { PlatformError } from "../../api/platform-error.ts";
import { named, publicly } from "../../api/public-sentence.ts";
import { callDigest, derivedCallId } from "./call-digest.ts";
import type { UnstampedEntry } from "./call-entry.ts";
import { acceptedEntry } from "./call-transitions.ts";
import type { QueuedCall } from "./call.ts";
import type { CallLedger, CreateOutcome } from "../ports/call-ledger.ts";
import type { CallQueue, PutOutcome } from "../ports/call-queue.ts";
import { refusedPut, whoseFault } from "../queues/queue-refusal.ts";
import { secondsSince } from "../seconds-since.ts";

/** Longest an acceptance waits for a queue with one server, milliseconds: nobody takes its place. */
const longestAlone = 3_000;

export interface AcceptParts {
  readonly calls: CallQueue;
  readonly ledger: CallLedger;
  /** Longest an acceptance waits for the queue, milliseconds (`accept_timeout`). */
  readonly acceptTimeout: number;
}

/** One call to be accepted. */
export interface AcceptOptions {
  /** The call that it replays. */
  readonly replayOf?: string;
  /** Whether its sender is gone: then nobody waits for the outcome. */
  readonly isAbandoned?: () => boolean;
}

/** What the reply to the client holds: the id to use and the time of the first acceptance, Unix nanoseconds. */
export interface Accepted {
  readonly id: string;
  readonly start: bigint;
}

/**
 * Accepts a call: its record first (step G2), then the call itself (G3). When it resolves the call is stored. A
 * repeated id with the same digest resolves alike and runs once; with another digest it is stored under an id derived
 * from both.
 * @throws PlatformError `queue_full` or `queue_unavailable`, saying whether the call may run anyway
 */
export async function acceptCall(
  parts: AcceptParts,
  sent: QueuedCall,
  maxRetries: number,
  { replayOf, isAbandoned }: AcceptOptions = {},
): Promise<Accepted> {
  const began = performance.now();
  const longest = parts.calls.isReplicated === true ? parts.acceptTimeout : Math.min(parts.acceptTimeout, longestAlone);
  const until = began + longest;
  const wait = { began, until, isAbandoned };
  const digest = callDigest(sent);
  const replay = replayOf === undefined ? {} : { replayOf };
  const entryOf = (call: QueuedCall) => acceptedEntry(call, { digest, maxRetries, ...replay });

  let call = sent;
  let outcome = await parts.ledger.create(call.id, entryOf(call), until, isAbandoned);
  if (outcome.kind === "exists" && outcome.found.entry.digest !== digest) {
    call = { ...sent, id: derivedCallId(sent.id, digest), parentId: sent.id };
    outcome = await parts.ledger.create(call.id, entryOf(call), until, isAbandoned);
  }
  switch (outcome.kind) {
    case "created":
      return publish(parts, call, outcome.revision, wait);
    case "exists": {
      const { entry, revision } = outcome.found;
      if (entry.reason === "not_stored") return again(parts, call, { entry: entryOf(call), revision }, wait);
      const start = BigInt(entry.accepted);
      if (entry.state !== "queued") return { id: call.id, start };
      return publish(parts, { ...call, start }, undefined, wait);
    }
    case "refused":
      throw refusedPut(publicly`queue call ${named(call.id)}`, call.queue, outcome);
    case "unknown":
      throw unknown(call.id, began, outcome);
    default:
      return outcome satisfies never;
  }
}

/** Accepts a call whose record says that its queue does not hold it. */
async function again(
  parts: AcceptParts,
  call: QueuedCall,
  { entry, revision }: { readonly entry: UnstampedEntry; readonly revision: number },
  wait: Wait,
): Promise<Accepted> {
  const outcome = await parts.ledger.update(call.id, entry, revision);
  switch (outcome.kind) {
    case "written":
      return publish(parts, call, outcome.revision, wait);
    case "conflict":
      // Another request accepts it again: one of both is stored, as they have one id.
      return publish(parts, call, undefined, wait);
    case "refused":
    case "unknown":
      throw unknown(call.id, wait.began, { kind: "unknown", cause: outcome.cause });
    default:
      return outcome satisfies never;
  }
}

/** When an acceptance began and has to end, monotonic milliseconds. */
interface Wait {
  readonly began: number;
  readonly until: number;
  readonly isAbandoned: (() => boolean) | undefined;
}

type Unstored = Exclude<PutOutcome, { kind: "stored" }> | Extract<CreateOutcome, { kind: "unknown" }>;

/** `revision` is set if this request created the record: only then may a refusal remove it. */
async function publish(
  parts: AcceptParts,
  call: QueuedCall,
  revision: number | undefined,
  { began, until, isAbandoned }: Wait,
): Promise<Accepted> {
  const outcome = await parts.calls.put(call, until, 0, isAbandoned);
  switch (outcome.kind) {
    case "stored":
      return { id: call.id, start: call.start };
    case "refused":
      if (revision === undefined) throw unknown(call.id, began, outcome);
      void parts.ledger.withdraw(call.id, revision);
      throw refusedPut(publicly`queue call ${named(call.id)}`, call.queue, outcome);
    case "unknown":
      throw unknown(call.id, began, outcome);
    default:
      return outcome satisfies never;
  }
}

function unknown(id: string, began: number, outcome: Unstored): PlatformError {
  const { cause } = outcome;
  const whose = whoseFault("fault" in outcome ? outcome.fault : undefined);
  return new PlatformError(
    "queue_unavailable",
    publicly`Cannot queue call ${named(id)}: no answer from the queue${whose} in ${secondsSince(began)}; send it again under this id and it runs once`,
    { callQueued: "unknown", callId: id, retryAfterSeconds: 1, cause },
  );
}
