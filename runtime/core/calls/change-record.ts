import { setTimeout as pause } from "node:timers/promises";

import { PlatformError } from "../../api/platform-error.ts";
import { publicly, type PublicSentence } from "../../api/public-sentence.ts";
import type { CallEntry } from "./call-entry.ts";
import type { CallLedger, LedgerEntry, UpdateOutcome } from "../ports/call-ledger.ts";

/** A record as it was last read or written. */
export type KnownRecord = Pick<LedgerEntry, "entry" | "revision">;

/** What to do with a record, decided by its content; without `write` it is left as it is. `as` is what that means. */
export interface RecordDecision<T> {
  readonly as: T;
  readonly write?: CallEntry;
}

/** Outcome of a change. */
export type RecordChange<T> =
  /** `sentAt` is when the write that was stored was sent, monotonic milliseconds. */
  | { readonly kind: "written"; readonly as: T; readonly record: KnownRecord; readonly sentAt: number }
  | { readonly kind: "left"; readonly as: T; readonly found: KnownRecord | undefined }
  /** Time ran out or `signal` aborted: it may have been written anyway. */
  | { readonly kind: "not-written"; readonly because: "full" | "unavailable" | "conflict"; readonly cause: unknown };

/** How long a change is retried: until `signal` aborts, or until `until` (monotonic milliseconds) but at least once. */
export interface ChangeBounds {
  readonly signal?: AbortSignal;
  readonly until?: number;
}

type Failure = Extract<UpdateOutcome, { kind: "refused" | "unknown" }>;

/** How long a change is retried while a client waits for it, milliseconds. */
export const changeBudget = 3_000;

const pauseAfterFailure = 100;
/** Lost races that are retried at once; after each further one a pause, milliseconds, lets other writers finish. */
const quickRaces = 5;
const pauseAfterRace = 10;

/**
 * The only way to change a record: read, decide, compare-and-set; repeated on a conflict. `known` saves the first read.
 * After a lost reply the record is read: either it holds what was sent, or the change is decided again.
 * Rejects with what `decide` throws.
 */
export async function changeRecord<T>(
  ledger: Pick<CallLedger, "read" | "update">,
  id: string,
  decide: (found: LedgerEntry | undefined) => RecordDecision<T>,
  bounds: ChangeBounds,
): Promise<RecordChange<T>>;
export async function changeRecord<T>(
  ledger: Pick<CallLedger, "read" | "update">,
  id: string,
  decide: (found: KnownRecord | undefined) => RecordDecision<T>,
  bounds: ChangeBounds,
  known: KnownRecord,
): Promise<RecordChange<T>>;
export async function changeRecord<T, R extends KnownRecord>(
  ledger: { readonly read: (id: string) => Promise<R | undefined> } & Pick<CallLedger, "update">,
  id: string,
  decide: (found: R | undefined) => RecordDecision<T>,
  bounds: ChangeBounds,
  known?: R,
): Promise<RecordChange<T>> {
  const { signal, until = Number.POSITIVE_INFINITY } = bounds;
  const isOver = (): boolean => performance.now() >= until;
  const isStopped = (): boolean => signal?.aborted === true;
  let found = known;
  let mustRead = known === undefined;
  let failure: Failure | undefined;
  /** Writes that may have been stored already. */
  const sent: { readonly write: CallEntry; readonly as: T; readonly sentAt: number }[] = [];

  for (let writes = 0; !isStopped();) {
    if (mustRead) {
      try {
        found = await ledger.read(id);
        mustRead = false;
      } catch (cause) {
        failure = { kind: "unknown", cause };
        if (isOver()) break;
        await pause(pauseAfterFailure);
        continue;
      }
    }
    const seen = found;
    const own = seen === undefined ? undefined : sent.find(({ write }) => isSameEntry(write, seen.entry));
    if (seen !== undefined && own !== undefined)
      return { kind: "written", as: own.as, record: seen, sentAt: own.sentAt };
    const { as, write } = decide(seen);
    if (write === undefined) return { kind: "left", as, found: seen };
    if (seen === undefined) throw new TypeError(`there is no record of call "${id}" to change`);
    if (isStopped() || (writes > 0 && isOver())) break;
    const sentAt = performance.now();
    writes += 1;
    const outcome = await ledger.update(id, write, seen.revision);
    if (outcome.kind === "written")
      return { kind: "written", as, record: { entry: write, revision: outcome.revision }, sentAt };
    mustRead = true;
    if (outcome.kind !== "refused") sent.push({ write, as, sentAt });
    if (outcome.kind === "conflict") {
      failure = undefined;
      if (writes > quickRaces) await pause(pauseAfterRace);
      continue;
    }
    failure = outcome;
    if (isOver()) break;
    await pause(pauseAfterFailure);
  }
  return notWritten(failure);
}

/** The error for a change that was not written; `what` as in `cancel call "<id>"`. */
export function unchanged(
  what: PublicSentence,
  change: Extract<RecordChange<unknown>, { kind: "not-written" }>,
): PlatformError {
  const { because, cause } = change;
  return new PlatformError("queue_unavailable", publicly`Cannot ${what}: ${whyUnchanged[because]}; try again`, {
    retryAfterSeconds: 1,
    cause,
  });
}

const whyUnchanged = {
  full: publicly`the broker has no room`,
  unavailable: publicly`the broker did not store it`,
  conflict: publicly`its record keeps changing`,
};

/** Whether two records are equal apart from `expires`, which each write stamps anew. */
function isSameEntry(one: CallEntry, other: CallEntry): boolean {
  return JSON.stringify({ ...one, expires: 0 }) === JSON.stringify({ ...other, expires: 0 });
}

function notWritten(failure: Failure | undefined): Extract<RecordChange<never>, { kind: "not-written" }> {
  if (failure === undefined) return { kind: "not-written", because: "conflict", cause: undefined };
  const because = failure.kind === "refused" ? failure.because : "unavailable";
  return { kind: "not-written", because, cause: failure.cause };
}
