import { setTimeout as pause } from "node:timers/promises";

import { PlatformError } from "../../api/platform-error.ts";
import type { CallEntry } from "./call-entry.ts";
import type { CallLedger, LedgerEntry, UpdateOutcome } from "../ports/call-ledger.ts";

/** A record as somebody read or wrote it. */
export type KnownRecord = Pick<LedgerEntry, "entry" | "revision">;

/** What to do with a record, decided by what it says now; without `write` it is left as it is. `as` is what that means. */
export interface RecordDecision<T> {
  readonly as: T;
  readonly write?: CallEntry;
}

/** What became of a change. */
export type RecordChange<T> =
  /** `sentAt` is when the write that was stored was sent, monotonic milliseconds. */
  | { readonly kind: "written"; readonly as: T; readonly record: KnownRecord; readonly sentAt: number }
  | { readonly kind: "left"; readonly as: T; readonly found: KnownRecord | undefined }
  /** Time was over, or who wanted it stopped: it may be written all the same. */
  | { readonly kind: "not-written"; readonly because: "full" | "unavailable" | "conflict"; readonly cause: unknown };

/** How long a change is tried: until `signal` aborts or `until` (monotonic milliseconds) is over, but once at least. */
export interface ChangeBounds {
  readonly signal?: AbortSignal;
  readonly until?: number;
}

type Trouble = Extract<UpdateOutcome, { kind: "refused" | "unknown" }>;

/** How long one that somebody waits for is tried, milliseconds. */
export const changeBudget = 3_000;

const pauseAfterFailure = 100;
/** Races lost at once; after each further one others have time to finish, milliseconds. */
const quickRaces = 5;
const pauseAfterRace = 10;

/**
 * The one way to change a record: read, decide, write if nobody wrote since, again. `known` saves the first read. An
 * answer that was lost is found out by reading: what is there is what was to be written, or is decided about anew.
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
  let trouble: Trouble | undefined;
  /** What may be written already. */
  const sent: { readonly write: CallEntry; readonly as: T; readonly sentAt: number }[] = [];

  for (let writes = 0; !isStopped();) {
    if (mustRead) {
      try {
        found = await ledger.read(id);
        mustRead = false;
      } catch (cause) {
        trouble = { kind: "unknown", cause };
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
      trouble = undefined;
      if (writes > quickRaces) await pause(pauseAfterRace);
      continue;
    }
    trouble = outcome;
    if (isOver()) break;
    await pause(pauseAfterFailure);
  }
  return notWritten(trouble);
}

/** The error for a change that somebody waited for; `what` as in `cancel call "<id>"`. */
export function unchanged(
  what: string,
  change: Extract<RecordChange<unknown>, { kind: "not-written" }>,
): PlatformError {
  const { because, cause } = change;
  return new PlatformError("queue_unavailable", `Cannot ${what}: ${whyUnchanged[because]}; try again`, {
    retryAfterSeconds: 1,
    cause,
  });
}

const whyUnchanged = {
  full: "the broker has no room",
  unavailable: "the broker did not store it",
  conflict: "others write its record all the time",
};

/** Whether two records say the same; when they expire, each write says anew. */
function isSameEntry(one: CallEntry, other: CallEntry): boolean {
  return JSON.stringify({ ...one, expires: 0 }) === JSON.stringify({ ...other, expires: 0 });
}

function notWritten(trouble: Trouble | undefined): Extract<RecordChange<never>, { kind: "not-written" }> {
  if (trouble === undefined) return { kind: "not-written", because: "conflict", cause: undefined };
  const because = trouble.kind === "refused" ? trouble.because : "unavailable";
  return { kind: "not-written", because, cause: trouble.cause };
}
