import type { CallEntry } from "../core/call-entry.ts";
import { endedEntry, handedBackEntry, waitingEntry, type CallEnd } from "../core/call-transitions.ts";
import { openTtl, resultTtlOf } from "../core/call-ttl.ts";
import type { QueuedCall } from "../core/call.ts";
import { formatRef } from "../core/function-ref.ts";
import { judgeRun, type RunOutcome, type RunVerdict } from "../core/judge-run.ts";
import type { StoredResult } from "../core/ports/call-ledger.ts";
import type { Delivery } from "../core/ports/call-queue.ts";
import type { RetryRules } from "../core/retry.ts";
import type { HeldCall } from "./held-call.ts";
import type { Lease } from "./lease.ts";
import { limitsOf, runFunction } from "./run-function.ts";
import { settleCall, ttlOf } from "./settle-call.ts";
import { storeResult } from "./store-result.ts";
import type { WorkerParts } from "./worker-parts.ts";

/** Delay after which a call that a stopping worker hands back is offered again, milliseconds. */
const handBackDelay = 1_000;

/** Why a run was cut off from outside. */
type Cut = "cancelled" | "handed-back";

/** One run of a taken call, from W3 to its verdict. */
export class HeldRun {
  readonly #parts: WorkerParts;
  readonly #delivery: Delivery<QueuedCall>;
  readonly #call: QueuedCall;
  readonly #lease: Lease;
  readonly #held: HeldCall;
  readonly #stop = new AbortController();
  #cut: Cut | undefined;
  #over = false;

  constructor(parts: WorkerParts, delivery: Delivery<QueuedCall>, call: QueuedCall, lease: Lease, held: HeldCall) {
    this.#parts = parts;
    this.#delivery = delivery;
    this.#call = call;
    this.#lease = lease;
    this.#held = held;
  }

  /** Word came that the call was cancelled: the record decides. */
  heardCancelled(): void {
    if (this.#over) return;
    void this.#held.isCancelled().then((cancelled) => {
      if (cancelled) this.#cutOff("cancelled");
    });
  }

  /** The worker stops: cut the run off and give the call back, unless it is already over. */
  handBack(): void {
    if (!this.#over) this.#cutOff("handed-back");
  }

  /** Runs the function and deals with the outcome. */
  async go(rules: RetryRules): Promise<void> {
    this.#lease.touchWith(async () => {
      const touched = await this.#held.touch();
      if (touched === "not-ours" && this.#held.entry.state === "cancelled") {
        this.#cutOff("cancelled");
        return "ours";
      }
      return touched;
    });
    const signal = AbortSignal.any([this.#stop.signal, this.#lease.lost]);
    const outcome = await runFunction(this.#parts, this.#call, this.#held.entry.run, signal);
    this.#over = true;
    this.#lease.stopTouching();
    if (this.#lease.lost.aborted) return this.#lost();
    if (outcome.kind !== "aborted") return this.#conclude(outcome, judgeRun(outcome, rules, this.#held.entry.retries));
    return this.#cut === "cancelled" ? this.#drop() : this.#giveBack();
  }

  async #conclude(outcome: RunOutcome, verdict: RunVerdict): Promise<void> {
    switch (verdict.kind) {
      case "none":
        return;
      case "retry":
        return this.#retry(outcome, verdict);
      case "done":
      case "failed":
        return this.#end(outcome, verdict);
      default:
        verdict satisfies never;
    }
  }

  /** Steps W4 and W5. */
  async #retry(outcome: RunOutcome, verdict: Extract<RunVerdict, { kind: "retry" }>): Promise<void> {
    const now = Date.now();
    const next = now + verdict.delay;
    const end = { now, status: verdict.status, duration: outcome.duration, error: verdict.error };
    const ttl = openTtl(this.#parts.times);
    const changed = await this.#held.change(
      (entry) => ({ ...waitingEntry(entry, end, next), expires: now + ttl }),
      ttl,
    );
    if (changed === "cancelled") return this.#drop();
    if (changed === "lost") return this.#lost();
    this.#count("retry");
    this.#lease.close();
    this.#delivery.putBack(Math.max(1, Math.round(next - Date.now())));
    return undefined;
  }

  /** Steps W6 and W7, then the debts. */
  async #end(outcome: RunOutcome, verdict: Extract<RunVerdict, { kind: "done" | "failed" }>): Promise<void> {
    const now = Date.now();
    const { entry } = this.#held;
    const stored = await this.#storeResult(outcome, entry);
    if (this.#lease.lost.aborted) return this.#lost();
    const error = verdict.kind === "failed" ? verdict.error : undefined;
    const end = { now, status: verdict.status, duration: outcome.duration, error };
    const callEnd: CallEnd =
      verdict.kind === "done"
        ? { state: "done", end, result: stored.result }
        : { state: "failed", end, reason: verdict.reason, result: stored.result };
    const ttl = ttlOf(this.#parts, endedEntry(entry, callEnd));
    const changed = await this.#held.change(
      (current) => ({ ...endedEntry(current, callEnd), expires: now + ttl }),
      ttl,
    );
    if (changed === "cancelled") return this.#drop();
    if (changed === "lost") return this.#lost();
    this.#parts.signals.ended(this.#call.id);
    this.#count(verdict.kind);
    this.#parts.metrics.processed.inc({ queue_name: this.#delivery.queue });
    return this.#settle(stored.kept);
  }

  async #storeResult(
    outcome: RunOutcome,
    entry: CallEntry,
  ): Promise<{ readonly result: CallEntry["result"]; readonly kept?: StoredResult }> {
    if (outcome.kind !== "answered") return { result: null };
    const { table, times, ledger } = this.#parts;
    const ttl = limitsOf(table.findKey(formatRef(this.#call.function)))?.resultTtl ?? times.callRecordTtl;
    const facts = { run: entry.run, size: outcome.size, ttl };
    const wanted = ttl > 0 || entry.callback !== null;
    if (!wanted || outcome.body === undefined) return { result: { ...facts, stored: false } };
    const kept = { status: outcome.status, headers: outcome.headers, body: outcome.body, duration: outcome.duration };
    const lifetime = resultTtlOf(times, ttl, entry.callback !== null, ledger.fill());
    const stored = await storeResult(ledger, this.#lease, this.#call.id, entry.run, kept, lifetime);
    return { result: { ...facts, stored }, kept };
  }

  /** The call was cancelled: its message is dropped and its record gets its last time to live. */
  #drop(): Promise<void> {
    this.#count("cancelled");
    return this.#settle(undefined);
  }

  async #giveBack(): Promise<void> {
    const now = Date.now();
    const ttl = openTtl(this.#parts.times);
    const changed = await this.#held.change((entry) => ({ ...handedBackEntry(entry, now), expires: now + ttl }), ttl);
    if (changed === "cancelled") return this.#drop();
    if (changed === "lost") return this.#lost();
    this.#count("handed-back");
    this.#lease.close();
    this.#delivery.putBack(handBackDelay);
    return undefined;
  }

  #settle(result: StoredResult | undefined): Promise<void> {
    return settleCall(this.#parts, {
      id: this.#call.id,
      found: { entry: this.#held.entry, revision: this.#held.revision },
      delivery: this.#delivery,
      lease: this.#lease,
      depth: this.#call.depth,
      ...(result === undefined ? {} : { result }),
    });
  }

  /** Another worker has the call, or soon will: nothing may be said about it here. */
  #lost(): void {
    this.#count("lost");
    this.#parts.log.warn(
      { callId: this.#call.id, functionName: formatRef(this.#call.function) },
      "lease of a call was lost",
    );
  }

  #cutOff(cut: Cut): void {
    this.#cut ??= cut;
    this.#stop.abort();
  }

  #count(outcome: string): void {
    this.#parts.metrics.runs.inc({ queue_name: this.#delivery.queue, outcome });
  }
}
