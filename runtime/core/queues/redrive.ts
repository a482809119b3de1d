import { PlatformError } from "../../api/platform-error.ts";
import { named, publicly } from "../../api/public-sentence.ts";
import { callDigest } from "../calls/call-digest.ts";
import { acceptedEntry, callbackRedrivenEntry, redrivenEntry } from "../calls/call-transitions.ts";
import { formatRef, type FunctionRef } from "../functions/function-ref.ts";
import { changeBudget, changeRecord, unchanged } from "../calls/change-record.ts";
import type { CallLedger } from "../ports/call-ledger.ts";
import type { CallQueue, PutOutcome } from "../ports/call-queue.ts";
import type { CallbackQueue } from "../ports/callback-queue.ts";
import type { DeadLetterStore } from "../ports/dead-letters.ts";
import { refusedPut } from "./queue-refusal.ts";
import { secondsSince } from "../seconds-since.ts";
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
type Letters = Parameters<typeof decideRedrive>[0];

/** A redrive whose record is prepared; `undo` reverts that. */
interface Prepared {
  readonly decision: Redrive;
  readonly undo: () => Promise<unknown>;
}

/** Longest a redrive waits for the queue, milliseconds. */
const budget = 3_000;

/**
 * Redrives what was given up under the same id: the call with new attempts, or only its callback if the call itself was
 * not given up. The record is changed first, then the call is published, then its dead letters are removed: after a
 * crash in between, repeating the redrive continues it.
 * @throws PlatformError `call_not_found` without a dead letter; `call_not_redrivable` with what to do instead;
 * `queue_full` or `queue_unavailable`, and the dead letter stays
 */
export async function redriveCall(parts: RedriveParts, queue: string, id: string): Promise<void> {
  const letters = await parts.letters.find(queue, id);
  if (letters.length === 0) throw noLetter("redrive", queue, id);
  const { decision, undo } = await prepareRecord(parts, letters, id);
  const began = performance.now();
  const outcome = await publish(parts, decision);
  if (outcome.kind === "refused") {
    await undo();
    throw refusedPut(publicly`redrive call ${named(id)}`, queue, outcome);
  }
  if (outcome.kind === "unknown") throw noAnswer(id, began, outcome.cause);
  for (const letter of letters) await parts.letters.remove(letter);
}

/**
 * Removes the dead letters of a call: its own and that of its callback.
 * @throws PlatformError `call_not_found` when there is none
 */
export async function deleteDeadLetters(letters: DeadLetterStore, queue: string, id: string): Promise<void> {
  const found = await letters.find(queue, id);
  if (found.length === 0) throw noLetter("delete", queue, id);
  for (const letter of found) await letters.remove(letter);
}

/** Brings the record to the state in which the redrive begins; `undo` reverts that. */
async function prepareRecord(parts: RedriveParts, letters: Letters, id: string): Promise<Prepared> {
  const began = performance.now();
  const until = began + changeBudget;
  for (;;) {
    const change = await changeRecord(
      parts.ledger,
      id,
      (found) => {
        const decision = decideRedrive(letters, found?.entry);
        if (decision.action === "refuse") throw notRedrivable(id, decision.because);
        if (decision.action === "run") maxRetriesOf(parts, id, decision.call.function);
        const before = found?.entry;
        const as = { decision, before };
        if (decision.record !== "reset" || before === undefined) return { as };
        const { action, redrives } = decision;
        const now = parts.ledger.now();
        return {
          as,
          write: action === "run" ? redrivenEntry(before, redrives, now) : callbackRedrivenEntry(before, redrives, now),
        };
      },
      { until },
    );
    if (change.kind === "not-written") throw unchanged(publicly`redrive call ${named(id)}`, change);
    const { decision, before } = change.as;
    if (change.kind === "written" && before !== undefined) {
      const { revision } = change.record;
      return { decision, undo: () => parts.ledger.update(id, before, revision) };
    }
    const prepared = await withoutReset(parts, id, decision, { began, until });
    if (prepared !== undefined) return prepared;
  }
}

/** Leaves the record as it is, or creates it; undefined when it was created elsewhere meanwhile. */
async function withoutReset(
  parts: RedriveParts,
  id: string,
  decision: Redrive,
  { began, until }: { readonly began: number; readonly until: number },
): Promise<Prepared | undefined> {
  if (decision.record === "keep" || decision.action !== "run") return { decision, undo: async () => undefined };
  const { call, runs, redrives } = decision;
  const maxRetries = maxRetriesOf(parts, id, call.function);
  // Run numbers continue: the letter says how many runs there were.
  const fresh = acceptedEntry(call, { digest: callDigest(call), maxRetries });
  const entry = { ...fresh, run: runs, redrives, redriven: parts.ledger.now() };
  const outcome = await parts.ledger.create(id, entry, until);
  switch (outcome.kind) {
    case "created":
      return { decision, undo: async () => void parts.ledger.withdraw(id, outcome.revision) };
    case "exists":
      return undefined;
    case "refused":
      throw refusedPut(publicly`redrive call ${named(id)}`, call.queue, outcome);
    case "unknown":
      throw noAnswer(id, began, outcome.cause);
    default:
      return outcome satisfies never;
  }
}

function maxRetriesOf(parts: RedriveParts, id: string, ref: FunctionRef): number {
  const retries = parts.retriesOf(ref);
  if (retries === undefined)
    throw notRedrivable(id, `function "${formatRef(ref)}" does not exist; deploy it and redrive then`);
  return retries;
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

function noAnswer(id: string, began: number, cause: unknown): PlatformError {
  return new PlatformError(
    "queue_unavailable",
    publicly`Cannot redrive call ${named(id)}: no answer from the queue in ${secondsSince(began)}; redrive it again and it runs once`,
    { callQueued: "unknown", callId: id, retryAfterSeconds: 1, cause },
  );
}
