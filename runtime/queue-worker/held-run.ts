import { endedEntry, handedBackEntry, isDeadReason, waitingEntry, type CallEnd } from "../core/call-transitions.ts";
import { resultTtlOf } from "../core/call-ttl.ts";
import type { QueuedCall } from "../core/call.ts";
import { formatRef } from "../core/function-ref.ts";
import { judgeRun, type RunOutcome, type RunVerdict } from "../core/judge-run.ts";
import type { StoredResult } from "../core/ports/call-ledger.ts";
import type { Delivery } from "../core/ports/call-queue.ts";
import type { RetryRules } from "../core/retry.ts";
import { traceIdIn } from "../core/trace-parent.ts";
import type { HeldCall } from "./held-call.ts";
import type { Lease } from "./lease.ts";
import type { Ending, RunEnding } from "./run-ending.ts";
import { limitsOf, runFunction } from "./run-function.ts";
import { settleCall, type Aside } from "./settle-call.ts";
import { storeResult } from "./store-result.ts";
import { whenRoom } from "./until-done.ts";
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
  readonly #aside: Aside;
  #cut: Cut | undefined;
  #over = false;

  /** `aside` is where the call may wait outside its slot for room: for its output, or for its callback. */
  constructor(
    parts: WorkerParts,
    delivery: Delivery<QueuedCall>,
    call: QueuedCall,
    lease: Lease,
    held: HeldCall,
    aside: Aside,
  ) {
    this.#aside = aside;
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

  /**
   * Runs the function and deals with the outcome; resolves when the slot is free. In a strict queue a call that waits for
   * its retry stays with the worker: its delivery is not answered, and its lease goes on.
   */
  async go(rules: RetryRules): Promise<RunEnding> {
    this.#touch();
    const outcome = await runFunction(this.#parts, this.#call, this.#held.entry.run, this.#signal());
    this.#over = true;
    this.#lease.stopTouching();
    if (this.#lease.lost.aborted) return this.#lost();
    if (outcome.kind === "aborted") return this.#cut === "cancelled" ? this.#drop() : this.#giveBack();
    const now = this.#parts.ledger.now();
    return this.#conclude(outcome, judgeRun(outcome, rules, this.#held.entry.retries, Math.random, now));
  }

  /** Each heartbeat touches the record, and so learns of a cancel that was missed. */
  #touch(): void {
    this.#lease.touchWith(async () => {
      const touched = await this.#held.touch();
      if (touched === "not-ours" && this.#held.entry.state === "cancelled") {
        this.#cutOff("cancelled");
        return "ours";
      }
      return touched;
    });
  }

  #signal(): AbortSignal {
    return AbortSignal.any([this.#stop.signal, this.#lease.lost]);
  }

  async #conclude(outcome: RunOutcome, verdict: RunVerdict): Promise<RunEnding> {
    switch (verdict.kind) {
      case "none":
        return "over";
      case "retry":
        return this.#retry(outcome, verdict);
      case "done":
      case "failed":
        return this.#end(this.#endingOf(outcome, verdict));
      default:
        return verdict satisfies never;
    }
  }

  /** Steps W4 and W5. */
  async #retry(outcome: RunOutcome, verdict: Extract<RunVerdict, { kind: "retry" }>): Promise<RunEnding> {
    const now = this.#parts.ledger.now();
    const next = now + verdict.delay;
    const end = { now, status: verdict.status, duration: outcome.duration, error: verdict.error };
    const changed = await this.#held.change((entry) => waitingEntry(entry, end, next));
    if (changed === "cancelled") return this.#drop();
    if (changed === "lost") return this.#lost();
    this.#count("retry");
    if (this.#parts.queue.strict) return "waiting";
    this.#lease.close();
    this.#delivery.putBack(Math.max(1, Math.round(next - this.#parts.ledger.now())));
    return "over";
  }

  #endingOf(outcome: RunOutcome, verdict: Ending["verdict"]): Ending {
    const { table, times, ledger } = this.#parts;
    const endedAt = ledger.now();
    if (outcome.kind !== "answered") return { outcome, verdict, endedAt, facts: undefined, kept: undefined };
    const { entry } = this.#held;
    const ttl = limitsOf(table.findKey(formatRef(this.#call.function)))?.resultTtl ?? times.callRecordTtl;
    const facts = { run: entry.run, size: outcome.size, ttl };
    const { status, headers, body, duration } = outcome;
    const wanted = body !== undefined && (ttl > 0 || entry.callback !== null);
    return { outcome, verdict, endedAt, facts, kept: wanted ? { status, headers, body, duration } : undefined };
  }

  /** Steps W6 and W7, then the debts. An output that is owed to a callback may wait for room, but not in the slot. */
  async #end(ending: Ending): Promise<RunEnding> {
    const stored = await this.#store(ending);
    if (this.#lease.lost.aborted) return this.#lost();
    if (stored || ending.kept === undefined || this.#held.entry.callback === null || !this.#aside.mayWait())
      return this.#finish(ending, stored);
    return async () => {
      // As long as it waits it can be cancelled, and a stopping worker ends the wait.
      this.#over = false;
      this.#touch();
      const storedLater = await whenRoom(() => this.#store(ending), this.#signal());
      this.#over = true;
      this.#lease.stopTouching();
      if (this.#lease.lost.aborted) this.#lost();
      else {
        const rest = await this.#finish(ending, storedLater);
        if (typeof rest === "function") await rest();
      }
    };
  }

  async #store({ kept, facts }: Ending): Promise<boolean> {
    if (kept === undefined || facts === undefined) return false;
    const { times, ledger } = this.#parts;
    const lifetime = resultTtlOf(times, facts.ttl, this.#held.entry.callback !== null, ledger.fill());
    return storeResult(ledger, this.#lease, this.#call.id, facts.run, kept, lifetime);
  }

  async #finish({ outcome, verdict, endedAt, facts, kept }: Ending, stored: boolean): Promise<RunEnding> {
    const result = facts === undefined ? null : { ...facts, stored };
    const error = verdict.kind === "failed" ? verdict.error : undefined;
    const end = { now: endedAt, status: verdict.status, duration: outcome.duration, error };
    const callEnd: CallEnd =
      verdict.kind === "done"
        ? { state: "done", end, result }
        : { state: "failed", end, reason: verdict.reason, result };
    const changed = await this.#held.change((entry) => endedEntry(entry, callEnd));
    if (changed === "cancelled") return this.#drop();
    if (changed === "lost") return this.#lost();
    this.#parts.signals.ended(this.#call.id);
    this.#count(verdict.kind);
    const reason = verdict.kind === "failed" ? verdict.reason : null;
    if (isDeadReason(reason)) this.#warn("call was given up", { reason });
    this.#parts.metrics.processed.inc({ queue_name: this.#delivery.queue });
    return this.#settle(kept);
  }

  /** The call was cancelled: its message is dropped and its record gets its last time to live. */
  #drop(): Promise<RunEnding> {
    this.#count("cancelled");
    return this.#settle(undefined);
  }

  async #giveBack(): Promise<RunEnding> {
    const now = this.#parts.ledger.now();
    const changed = await this.#held.change((entry) => handedBackEntry(entry, now));
    if (changed === "cancelled") return this.#drop();
    if (changed === "lost") return this.#lost();
    this.#count("handed-back");
    this.#lease.close();
    this.#delivery.putBack(this.#parts.queue.strict ? 0 : handBackDelay);
    return "over";
  }

  #settle(result: StoredResult | undefined): Promise<RunEnding> {
    const ended = {
      id: this.#call.id,
      record: this.#held.record,
      delivery: this.#delivery,
      lease: this.#lease,
      depth: this.#call.depth,
      ...(result === undefined ? {} : { result }),
    };
    return settleCall(this.#parts, ended, this.#aside);
  }

  /** Another worker has the call, or soon will: nothing may be said about it here. */
  #lost(): "over" {
    this.#count("lost");
    this.#warn("lease of a call was lost");
    return "over";
  }

  #warn(message: string, facts: { readonly reason?: string } = {}): void {
    const functionName = formatRef(this.#call.function);
    const traceId = traceIdIn(this.#call.headers);
    this.#parts.log.warn({ callId: this.#call.id, functionName, traceId, ...facts }, message);
  }

  #cutOff(cut: Cut): void {
    this.#cut ??= cut;
    this.#stop.abort();
  }

  #count(outcome: string): void {
    this.#parts.metrics.runs.inc({ queue_name: this.#delivery.queue, outcome });
  }
}
