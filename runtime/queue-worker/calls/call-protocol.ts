import type { QueuedCall } from "../../core/calls/call.ts";
import { isDeadReason } from "../../core/calls/call-transitions.ts";
import type { FailureReason } from "../../core/calls/call-entry.ts";
import { formatRef } from "../../core/functions/function-ref.ts";
import { judgeRun, runStatus, type RunVerdict } from "../../core/calls/judge-run.ts";
import type { Delivery } from "../../core/ports/call-queue.ts";
import type { StoredResult } from "../../core/ports/call-ledger.ts";
import type { RetryRules } from "../../core/calls/retry.ts";
import { traceIdIn } from "../../core/headers/trace-parent.ts";
import type { KnownRecord } from "../../core/calls/change-record.ts";
import type { Slot } from "./detached-calls.ts";
import { claimCall, type Claim } from "./claim-call.ts";
import { CurrentRun, type CurrentRuns } from "./current-run.ts";
import type { ClaimedCall } from "./claimed-call.ts";
import type { Lease } from "../lease.ts";
import { recordRun, type Recorded } from "./record-run.ts";
import { limitsOf, runFunction, type FunctionRun } from "./run-function.ts";
import { settleCall } from "./settle-call.ts";
import type { StrictWaits } from "./strict-waits.ts";
import type { WorkerParts } from "../worker-parts.ts";

/** Delay after which a call that a stopping worker hands back is redelivered, milliseconds. */
const handBackDelay = 1_000;

/** A call that was delivered, its lease, and the slot it holds. */
export interface DeliveredCall {
  readonly call: QueuedCall;
  readonly delivery: Delivery<QueuedCall>;
  readonly lease: Lease;
  readonly slot: Slot;
}

/** State shared by all calls of a worker. */
export interface CallDesk {
  readonly runs: CurrentRuns;
  readonly waits: StrictWaits;
}

/**
 * The protocol of a call: claim → run → judge → record → settle, steps W1 to W10. Each step is recorded before the
 * next begins, so that another worker can continue from there after a crash. Nothing leaves the worker before the
 * record says how the call ended. When the lease is lost, another worker has the call: nothing more is published here.
 */
export class CallProtocol {
  readonly #parts: WorkerParts;
  readonly #shared: CallDesk;

  constructor(parts: WorkerParts, shared: CallDesk) {
    this.#parts = parts;
    this.#shared = shared;
  }

  /** Resolves when the call is settled, requeued or lost; may leave the slot on the way. */
  async follow(work: DeliveredCall): Promise<void> {
    const { call, delivery, lease, slot } = work;
    const { ledger } = this.#parts;
    // Loops only for a strict queue, whose call stays with this worker until it has ended.
    while (!lease.lost.aborted) {
      const rules = this.#rulesOf(call);
      const claim = await claimCall(this.#parts, delivery, call, lease, rules.attempts);
      if (claim.kind !== "taken") {
        if ((await this.#skip(work, claim)) === "again") continue;
        return;
      }
      const { held } = claim;
      if (!claim.takeover && held.entry.run === 1) this.#observeWait(work);
      const run = new CurrentRun(held, lease);
      this.#shared.runs.add(call.id, run);
      try {
        const { outcome, ...place } = await this.#run(work, run, held);
        const verdict = judgeRun(outcome, rules, held.entry.retries, Math.random, ledger.now());
        const recorded = await recordRun(this.#parts, { call, held, lease, run, outcome, place, verdict, slot });
        this.#logFailed(call, verdict, recorded);
        if ((await this.#settle(work, held, recorded)) === "over") return;
      } finally {
        this.#shared.runs.forget(call.id, run);
      }
    }
  }

  /** Deals with a call that is not to be run, or not now. */
  async #skip(work: DeliveredCall, claim: Exclude<Claim, { kind: "taken" }>): Promise<"over" | "again"> {
    const { call, delivery, lease } = work;
    const { metrics, queue } = this.#parts;
    switch (claim.kind) {
      case "lost":
        return "over";
      case "over":
        if (claim.reason !== undefined) this.#reportEnded(work, claim.reason);
        await this.#publishAndAcknowledge(work, claim.record);
        return "over";
      case "requeue":
        if (queue.strict && !this.#shared.waits.stopped) {
          await this.#shared.waits.wait(call.id, claim.delay, lease.lost);
          return "again";
        }
        metrics.requeue.inc({ queue_name: delivery.queue, reason: claim.because });
        this.#requeue(work, claim.delay);
        return "over";
      default:
        return claim satisfies never;
    }
  }

  async #run({ call, delivery }: DeliveredCall, run: CurrentRun, held: ClaimedCall): Promise<FunctionRun> {
    const { inflight } = this.#parts.metrics;
    const queue = { queue_name: delivery.queue };
    inflight.inc(queue);
    try {
      return await run.whileCuttable((signal) => this.#counted(call, held.entry.run, signal));
    } finally {
      inflight.dec(queue);
    }
  }

  /** Counts the run once, however many replicas were tried, unless the function is unknown. */
  async #counted(call: QueuedCall, attempt: number, signal: AbortSignal): Promise<FunctionRun> {
    const { runCounts, table } = this.#parts;
    const key = formatRef(call.function);
    const counts = table.findKey(key) === undefined ? undefined : runCounts?.of(key);
    const startedAt = performance.now();
    counts?.begin(startedAt);
    const ended = await runFunction(this.#parts, call, attempt, signal);
    const now = performance.now();
    counts?.finish(now, runStatus(ended.outcome), now - startedAt, ended.coldStart !== undefined);
    return ended;
  }

  /** Acts on the recorded outcome: requeues the call, or settles it and tells those that wait for its end. */
  async #settle(work: DeliveredCall, held: ClaimedCall, recorded: Recorded): Promise<"over" | "again"> {
    const { metrics, queue, ledger } = this.#parts;
    metrics.runs.inc({ queue_name: work.delivery.queue, outcome: recorded.kind });
    switch (recorded.kind) {
      case "lost":
        this.#warn(work.call, "lease of a call was lost");
        return "over";
      case "handed-back":
        this.#warn(work.call, "run was cut off as this worker stops; its call was handed back");
        this.#requeue(work, handBackDelay);
        return "over";
      case "retry":
        if (queue.strict) return "again";
        this.#requeue(work, Math.max(1, Math.round(recorded.next - ledger.now())));
        return "over";
      case "cancelled":
        await this.#publishAndAcknowledge(work, held.record);
        return "over";
      case "done":
      case "failed":
        this.#reportEnded(work, held.entry.reason);
        await this.#publishAndAcknowledge(work, held.record, recorded.kept);
        return "over";
      default:
        return recorded satisfies never;
    }
  }

  #publishAndAcknowledge(work: DeliveredCall, record: KnownRecord, result?: StoredResult): Promise<void> {
    const { call, delivery, lease, slot } = work;
    return settleCall(this.#parts, { id: call.id, record, delivery, lease, call, result }, slot);
  }

  /** Requeues the call for `delay` milliseconds; the head of a strict queue for 0, so that no call passes it. */
  #requeue({ delivery, lease }: DeliveredCall, delay: number): void {
    lease.close();
    delivery.requeue(this.#parts.queue.strict ? 0 : delay);
  }

  #reportEnded({ call, delivery }: DeliveredCall, reason: FailureReason | null): void {
    this.#parts.signals.ended(call.id);
    this.#parts.metrics.processed.inc({ queue_name: delivery.queue });
    if (isDeadReason(reason)) this.#warn(call, "call was given up", { reason });
  }

  /** Logs a failed attempt, and when the next one begins. */
  #logFailed(call: QueuedCall, verdict: RunVerdict, recorded: Recorded): void {
    const { log } = this.#parts;
    if (verdict.kind === "retry" && recorded.kind === "retry") {
      const { status, error } = verdict;
      const next = new Date(recorded.next).toISOString();
      log.info({ ...factsOf(call), status, error, next }, "queued call failed, trying again");
    } else if (verdict.kind === "failed" && recorded.kind === "failed") {
      const { status, error, reason } = verdict;
      log.info({ ...factsOf(call), status, error, reason }, "queued call failed");
    }
  }

  #observeWait({ call, delivery }: DeliveredCall): void {
    const waited = Math.max(0, Date.now() - Number(call.start / 1_000_000n)) / 1_000;
    this.#parts.metrics.wait.observe({ queue_name: delivery.queue }, waited);
  }

  #warn(call: QueuedCall, message: string, facts: { readonly reason?: string } = {}): void {
    this.#parts.log.warn({ ...factsOf(call), ...facts }, message);
  }

  #rulesOf(call: QueuedCall): RetryRules {
    const limits = limitsOf(this.#parts.table.findKey(formatRef(call.function)));
    return { ...this.#parts.queue.retry, ...limits?.retry };
  }
}

/** Fields of every log line about a call. */
function factsOf(call: QueuedCall) {
  return { callId: call.id, functionName: formatRef(call.function), traceId: traceIdIn(call.headers) };
}
