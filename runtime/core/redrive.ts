import { PlatformError } from "../api/platform-error.ts";
import { callDigest } from "./call-digest.ts";
import { acceptedEntry, callbackRedrivenEntry, redrivenEntry } from "./call-transitions.ts";
import { formatRef, type FunctionRef } from "./function-ref.ts";
import type { CallLedger, LedgerEntry } from "./ports/call-ledger.ts";
import type { CallQueue, PutOutcome } from "./ports/call-queue.ts";
import type { CallbackQueue } from "./ports/callback-queue.ts";
import type { DeadLetterStore } from "./ports/dead-letters.ts";
import { refusedPut } from "./queue-refusal.ts";
import { decideRedrive, type RedriveDecision } from "./redrive-decision.ts";

/** What redriving needs. */
export interface RedriveParts {
  readonly letters: DeadLetterStore;
  readonly ledger: CallLedger;
  readonly calls: CallQueue;
  readonly callbacks: CallbackQueue;
  /** Most retries of a call of this function; undefined when there is no such function. */
  readonly retriesOf: (ref: FunctionRef) => number | undefined;
}

type Redrive = Exclude<RedriveDecision, { action: "refuse" }>;

/** Longest a redrive waits for the queue, milliseconds. */
const budget = 3_000;
const mostRaces = 20;

/**
 * Sends what was given up once more, under the same id: the call with new attempts, or only its callback where the
 * call itself was not given up. The record changes first, then the call is published, then its dead letters go: after a
 * crash in between the same redrive again goes on.
 * @throws PlatformError `call_not_found` without a dead letter; `call_not_redrivable` with what to do instead;
 * `queue_full` or `queue_unavailable`, and the dead letter stays
 */
export async function redriveCall(parts: RedriveParts, queue: string, id: string): Promise<void> {
  const letters = await parts.letters.find(queue, id);
  if (letters.length === 0) throw noLetter("redrive", queue, id);
  for (let race = 0; race < mostRaces; race++) {
    const found = await parts.ledger.read(id);
    const decision = decideRedrive(letters, found?.entry);
    if (decision.action === "refuse") throw notRedrivable(id, decision.because);
    const undo = await changeRecord(parts, id, decision, found);
    // Somebody else wrote it: decide anew by what it says now.
    if (undo === undefined) continue;
    const outcome = await publish(parts, decision);
    if (outcome.kind === "refused") {
      await undo();
      throw refusedPut(`redrive call "${id}"`, queue, outcome.because, outcome.cause);
    }
    if (outcome.kind === "unknown") throw noAnswer(id, outcome.cause);
    for (const letter of letters) await parts.letters.remove(letter);
    return;
  }
  throw new PlatformError("queue_unavailable", `Cannot redrive call "${id}": its record does not come to rest`, {
    retryAfterSeconds: 1,
  });
}

/**
 * Removes what is kept of a call that was given up: its own dead letter and that of its callback.
 * @throws PlatformError `call_not_found` when there is none
 */
export async function deleteLetters(letters: DeadLetterStore, queue: string, id: string): Promise<void> {
  const found = await letters.find(queue, id);
  if (found.length === 0) throw noLetter("delete", queue, id);
  for (const letter of found) await letters.remove(letter);
}

/** Resolves with what takes the change back; undefined when another was faster. */
async function changeRecord(
  parts: RedriveParts,
  id: string,
  decision: Redrive,
  found: LedgerEntry | undefined,
): Promise<(() => Promise<unknown>) | undefined> {
  const { ledger } = parts;
  const { redrives } = decision;
  const maxRetries = decision.action === "run" ? parts.retriesOf(decision.call.function) : undefined;
  if (decision.action === "run" && maxRetries === undefined) {
    const name = formatRef(decision.call.function);
    throw notRedrivable(id, `function "${name}" does not exist; deploy it and redrive then`);
  }
  if (decision.record === "keep") return async () => {};
  if (found !== undefined) {
    const { entry, revision } = found;
    const wanted = decision.action === "run" ? redrivenEntry(entry, redrives) : callbackRedrivenEntry(entry, redrives);
    const written = await ledger.update(id, wanted, revision);
    if (written === undefined) return undefined;
    return () => ledger.update(id, entry, written).catch(() => undefined);
  }
  if (decision.action !== "run" || maxRetries === undefined) return async () => {};
  const entry = {
    ...acceptedEntry(decision.call, { digest: callDigest(decision.call), maxRetries }),
    // Runs go on being counted: those before were as many as the letter says.
    run: decision.runs,
    redrives,
  };
  const outcome = await ledger.create(id, entry, performance.now() + budget);
  switch (outcome.kind) {
    case "created":
      return async () => void ledger.withdraw(id, outcome.revision);
    case "exists":
      return undefined;
    case "refused":
      throw refusedPut(`redrive call "${id}"`, decision.call.queue, outcome.because, outcome.cause);
    case "unknown":
      throw noAnswer(id, outcome.cause);
    default:
      return outcome satisfies never;
  }
}

function publish({ calls, callbacks }: RedriveParts, decision: Redrive): Promise<PutOutcome> {
  const until = performance.now() + budget;
  return decision.action === "run"
    ? calls.put(decision.call, until, decision.redrives)
    : callbacks.put({ ...decision.callback, redrives: decision.redrives }, until);
}

function noLetter(act: string, queue: string, id: string): PlatformError {
  return new PlatformError(
    "call_not_found",
    `Cannot ${act} call "${id}": queue "${queue}" has no dead letter of it; /system/queue/${queue}/dead-letters lists them`,
  );
}

function notRedrivable(id: string, because: string): PlatformError {
  return new PlatformError("call_not_redrivable", `Cannot redrive call "${id}": ${because}`);
}

function noAnswer(id: string, cause: unknown): PlatformError {
  return new PlatformError(
    "queue_unavailable",
    `Cannot redrive call "${id}": no answer from the queue in ${budget / 1_000} s; redrive it again and it runs once`,
    { callQueued: "unknown", callId: id, retryAfterSeconds: 1, cause },
  );
}
