import type { CallEntry } from "../../core/calls/call-entry.ts";
import {
  endedEntry,
  handedBackEntry,
  waitingEntry,
  type CallEnd,
  type RunPlace,
} from "../../core/calls/call-transitions.ts";
import { resultTtlOf } from "../../core/calls/call-ttl.ts";
import type { QueuedCall } from "../../core/calls/call.ts";
import { formatRef } from "../../core/functions/function-ref.ts";
import type { RunOutcome, RunVerdict } from "../../core/calls/judge-run.ts";
import type { StoredResult } from "../../core/ports/call-ledger.ts";
import type { Slot } from "./detached-calls.ts";
import type { CurrentRun } from "./current-run.ts";
import type { ClaimedCall } from "./claimed-call.ts";
import type { Lease } from "../lease.ts";
import { limitsOf } from "./run-function.ts";
import { storeResult } from "./store-result.ts";
import { whenRoom } from "./until-done.ts";
import type { WorkerParts } from "../worker-parts.ts";

/** A run that has ended, and all that its record is made from. */
export interface JudgedRun {
  readonly call: QueuedCall;
  readonly held: ClaimedCall;
  readonly lease: Lease;
  readonly run: CurrentRun;
  readonly outcome: RunOutcome;
  readonly place: RunPlace;
  readonly verdict: RunVerdict;
  readonly slot: Slot;
}

/** What the record now says of a run; with `lost` the call is another worker's. */
export type Recorded =
  | { readonly kind: "retry"; readonly next: number }
  /** `kept` is the output that was to be kept, whether or not there was room for it. */
  | { readonly kind: "done" | "failed"; readonly kept: StoredResult | undefined }
  | { readonly kind: "handed-back" | "cancelled" | "lost" };

/** Steps W4 to W7: records what the run means for its call. An earlier cancel takes precedence. */
export async function recordRun(parts: WorkerParts, judged: JudgedRun): Promise<Recorded> {
  const { verdict, lease } = judged;
  if (lease.lost.aborted) return { kind: "lost" };
  switch (verdict.kind) {
    case "none":
      return recordCut(parts, judged);
    case "retry":
      return recordRetry(parts, judged, verdict);
    case "done":
    case "failed":
      return recordEnd(parts, judged, verdict);
    default:
      return verdict satisfies never;
  }
}

async function recordCut(parts: WorkerParts, { held, run, place }: JudgedRun): Promise<Recorded> {
  if (run.cut === "cancelled") return { kind: "cancelled" };
  const now = parts.ledger.now();
  const changed = await held.change((entry) => handedBackEntry(entry, now, place));
  return { kind: changed === "stored" ? "handed-back" : changed };
}

async function recordRetry(
  parts: WorkerParts,
  { held, outcome, place }: JudgedRun,
  { status, error, delay }: Extract<RunVerdict, { kind: "retry" }>,
): Promise<Recorded> {
  const now = parts.ledger.now();
  const next = now + delay;
  const end = { now, status, duration: outcome.duration, error, ...place };
  const changed = await held.change((entry) => waitingEntry(entry, end, next));
  return changed === "stored" ? { kind: "retry", next } : { kind: changed };
}

async function recordEnd(
  parts: WorkerParts,
  judged: JudgedRun,
  verdict: Extract<RunVerdict, { kind: "done" | "failed" }>,
): Promise<Recorded> {
  const { held, lease, outcome, place } = judged;
  const now = parts.ledger.now();
  const output = outputOf(parts, judged);
  const result = output === undefined ? null : { ...output.facts, stored: await store(parts, judged, output) };
  if (lease.lost.aborted) return { kind: "lost" };
  const error = verdict.kind === "failed" ? verdict.error : undefined;
  const end = { now, status: verdict.status, duration: outcome.duration, error, ...place };
  const callEnd: CallEnd =
    verdict.kind === "done" ? { state: "done", end, result } : { state: "failed", end, reason: verdict.reason, result };
  const changed = await held.change((entry) => endedEntry(entry, callEnd));
  return changed === "stored" ? { kind: verdict.kind, kept: output?.kept } : { kind: changed };
}

interface Output {
  readonly facts: Omit<NonNullable<CallEntry["result"]>, "stored">;
  /** Undefined when it is not to be kept, or is too long. */
  readonly kept: StoredResult | undefined;
}

function outputOf(parts: WorkerParts, { call, held, outcome }: JudgedRun): Output | undefined {
  if (outcome.kind !== "responded") return undefined;
  const { status, headers, body, duration, size } = outcome;
  const ttl = limitsOf(parts.table.findKey(formatRef(call.function)))?.resultTtl ?? parts.times.callRecordTtl;
  const wanted = body !== undefined && (ttl > 0 || held.entry.callback !== null);
  const kept = wanted ? { status, headers, body, duration } : undefined;
  return { facts: { run: held.entry.run, size, ttl }, kept };
}

/** Step W6. An output that a callback needs may wait for room, but not in the slot. */
async function store(parts: WorkerParts, judged: JudgedRun, { facts, kept }: Output): Promise<boolean> {
  if (kept === undefined) return false;
  const { held, lease, run, slot } = judged;
  const { ledger, times } = parts;
  const hasCallback = held.entry.callback !== null;
  const tryOnce = (): Promise<boolean> =>
    storeResult(ledger, lease, held.id, facts.run, kept, resultTtlOf(times, facts.ttl, hasCallback, ledger.fill()));
  if (await tryOnce()) return true;
  if (lease.lost.aborted || !hasCallback || !slot.leave()) return false;
  return run.whileCuttable((signal) => whenRoom(tryOnce, AbortSignal.any([signal, slot.stop])));
}
