import { header } from "../../api/names.ts";
import type { CallEntry, CallbackState } from "../../core/calls/call-entry.ts";
import { resultTtlOf } from "../../core/calls/call-ttl.ts";
import {
  attemptsByAge,
  callbackAfter,
  callbackUntil,
  isTooDeep,
  judgeCallback,
  type CallbackAttemptTimes,
  type CallbackVerdict,
} from "../../core/callbacks/decide-callback.ts";
import { endToEndHeaders } from "../../core/headers/hop-by-hop.ts";
import { withoutHeaders } from "../../core/headers/header-list.ts";
import {
  changeBudget,
  changeRecord,
  type ChangeBounds,
  type KnownRecord,
  type RecordChange,
  type RecordDecision,
} from "../../core/calls/change-record.ts";
import type { LedgerEntry, StoredResult } from "../../core/ports/call-ledger.ts";
import type { Delivery } from "../../core/ports/call-queue.ts";
import type { CallbackRequest } from "../../core/ports/callback-sender.ts";
import type { QueuedCallback } from "../../core/ports/callback-queue.ts";
import { backOff } from "../../core/calls/retry.ts";
import { deadLetterCallback, deadLetterUnreadableCallback } from "./dead-letter-callback.ts";
import { HostSlots } from "./host-slots.ts";
import { signRequest } from "./sign-request.ts";
import { DeferredWrites } from "./deferred-writes.ts";
import { Lease } from "../lease.ts";
import type { WorkerParts } from "../worker-parts.ts";

/** Callbacks sent at once to one host. */
const slotsPerHost = 4;
const delayAfterFailure = 1_000;
const contentHeaders = new Set(["content-length", "content-encoding", "content-type"]);

/** Sends pending callbacks, each until it is delivered, rejected for good, or its window is over. */
export class CallbackHandler {
  readonly #parts: WorkerParts;
  readonly #stop: AbortSignal;
  readonly #abandon: AbortSignal;
  readonly #hosts: HostSlots;
  readonly #deferred: DeferredWrites;
  /** Deliveries being handled, by their sequence in the stream. */
  readonly #inFlight = new Map<number, Promise<void>>();

  /** `stop` aborts sends; their callbacks are redelivered. When `abandon` aborts, all leases are lost. */
  constructor(parts: WorkerParts, stop: AbortSignal, abandon: AbortSignal) {
    this.#parts = parts;
    this.#stop = stop;
    this.#abandon = abandon;
    this.#hosts = new HostSlots({ perHost: slotsPerHost, workers: parts.callbackWorkers });
    this.#deferred = new DeferredWrites({ retryFor: parts.callbackTimes.window, stop });
  }

  /**
   * Handles one delivery; never rejects. A redelivery waits while this worker still handles the first delivery, which
   * happens when the process was suspended for longer than a lease.
   */
  async handle(delivery: Delivery<QueuedCallback>): Promise<void> {
    const { sequence } = delivery;
    const handled = this.#handle(delivery, this.#inFlight.get(sequence));
    this.#inFlight.set(sequence, handled);
    await handled;
    if (this.#inFlight.get(sequence) === handled) this.#inFlight.delete(sequence);
  }

  async #handle(delivery: Delivery<QueuedCallback>, earlier: Promise<void> | undefined): Promise<void> {
    const lease = new Lease({
      ackWait: this.#parts.callbackAckWait,
      deliveredAt: delivery.deliveredAt,
      extend: () => delivery.extend(),
    });
    lease.loseWith(this.#abandon);
    try {
      await earlier;
      if ("unreadable" in delivery.content) {
        await deadLetterUnreadableCallback(this.#parts, delivery, delivery.content.unreadable);
        await delivery.acknowledge();
      } else {
        await this.#sendInSlot(delivery, delivery.content.read, lease);
      }
    } catch (err) {
      // An immediate redelivery would flood a broker that is just coming back.
      this.#parts.log.warn({ err, sequence: delivery.sequence }, "callback requeued");
      if (!lease.lost.aborted) delivery.requeue(Math.max(delayAfterFailure, this.#delayByAge(delivery)));
    } finally {
      lease.close();
    }
  }

  async #sendInSlot(delivery: Delivery<QueuedCallback>, callback: QueuedCallback, lease: Lease): Promise<void> {
    // Before the record is read: of many callbacks to one host, most only find it busy.
    const slot = this.#hosts.take(callback.url, delivery.sequence);
    if ("requeueFor" in slot) {
      delivery.requeue(slot.requeueFor);
      return;
    }
    try {
      await this.#process(delivery, callback, lease);
    } finally {
      slot.release();
    }
  }

  async #process(delivery: Delivery<QueuedCallback>, callback: QueuedCallback, lease: Lease): Promise<void> {
    const found = await this.#parts.ledger.read(callback.id);
    // A redriven call has a callback for each of its ends; its record describes only the last one.
    const known = found?.entry.redrives === callback.redrives ? found : undefined;
    if (known !== undefined && known.entry.callback?.state !== "pending") await delivery.acknowledge();
    else await this.#attempt(delivery, callback, known, lease, await this.#resultOf(callback, found?.entry));
  }

  async #attempt(
    delivery: Delivery<QueuedCallback>,
    callback: QueuedCallback,
    found: LedgerEntry | undefined,
    lease: Lease,
    result: CallbackBody,
  ): Promise<void> {
    const { callbackTimes, ledger } = this.#parts;
    const now = ledger.now();
    const state: CallbackState = found?.entry.callback ?? {
      url: callback.url,
      state: "pending",
      // Without a record attempts are not counted: their number is estimated from the entry's age.
      attempts: attemptsByAge(now - delivery.storedAt, callbackTimes),
      first: delivery.storedAt,
    };
    let verdict: CallbackVerdict;
    let endedAt = now;
    if (isTooDeep(callback.depth)) {
      verdict = { kind: "failed", status: undefined, error: "the chain of callbacks is too deep" };
    } else {
      const signed = await signRequest(this.#parts, callback, requestOf(callback, result));
      if (lease.lost.aborted) return;
      // Once it is sent, the receiver's reply counts, even if the lease is lost meanwhile.
      const outcome = signed.kind === "signed" ? await this.#parts.sender.send(signed.request, this.#stop) : signed;
      endedAt = ledger.now();
      verdict = judgeCallback(outcome, { ...state, first: state.first ?? now }, endedAt, callbackTimes);
      if (verdict.kind !== "sent" && (this.#stop.aborted || lease.lost.aborted)) {
        if (!lease.lost.aborted) delivery.requeue(delayAfterFailure);
        return;
      }
    }
    this.#parts.metrics.callbacks.inc({ queue_name: callback.queue, outcome: verdict.kind });
    if (verdict.kind === "failed") {
      await deadLetterCallback(this.#parts, callback, {
        attempts: state.attempts + 1,
        verdict,
        output: { body: result.body ?? new Uint8Array(0), truncated: result.truncated },
      });
    }
    const times = { startedAt: now, now: endedAt };
    const isRecorded =
      found === undefined || (await this.#record(callback, state, times, verdict, found, result, lease));
    // Another worker has it, or soon will: an acknowledgement or requeue here would concern that worker's attempt.
    if (lease.lost.aborted) return;
    lease.close();
    if (verdict.kind !== "retry") await delivery.acknowledge();
    // An attempt that is not recorded is not counted: the number of attempts is estimated from the entry's age.
    else delivery.requeue(isRecorded ? verdict.delay : Math.max(verdict.delay, this.#delayByAge(delivery)));
  }

  #delayByAge(delivery: Delivery<QueuedCallback>): number {
    const { callbackTimes, ledger } = this.#parts;
    const attempts = attemptsByAge(ledger.now() - delivery.storedAt, callbackTimes);
    return backOff(callbackTimes.minWait, callbackTimes.maxWait, attempts, Math.random);
  }

  async #resultOf(callback: QueuedCallback, entry: CallEntry | undefined): Promise<CallbackBody> {
    if (callback.output !== undefined) {
      const { body, truncated } = callback.output;
      return truncated ? { truncated } : { truncated, body };
    }
    if (entry === undefined) return { truncated: true };
    // The call was redriven: the record's result is that of a later run.
    if (entry.redrives !== callback.redrives) return this.#resultOfRun(callback.id, callback.run);
    if (entry.result === null) return { truncated: false };
    if (!entry.result.stored) return { truncated: true };
    const stored = await this.#parts.ledger.readResult(callback.id, entry.result.run);
    return stored === undefined ? { truncated: true } : { truncated: false, body: stored.body, stored };
  }

  async #resultOfRun(id: string, run: number): Promise<CallbackBody> {
    const stored = await this.#parts.ledger.readResult(id, run);
    return stored === undefined ? { truncated: true } : { truncated: false, body: stored.body };
  }

  /**
   * Writes the attempt into the record; the result then lives only as long as the function's annotation says. False
   * when that could not be written within a lease. The receiver's reply counts anyway: nothing is sent again for that,
   * and a final outcome is written later.
   */
  async #record(
    callback: QueuedCallback,
    before: CallbackState,
    times: Pick<CallbackAttemptTimes, "startedAt" | "now">,
    verdict: CallbackVerdict,
    found: LedgerEntry,
    result: CallbackBody,
    lease: Lease,
  ): Promise<boolean> {
    const { callbackAckWait, callbackTimes, log } = this.#parts;
    const first = before.first ?? times.startedAt;
    const after = callbackAfter(before, verdict, {
      ...times,
      first,
      until: callbackUntil(first, callbackTimes, callbackAckWait),
    });
    const until = performance.now() + Math.max(callbackAckWait, changeBudget);
    const { id, redrives } = callback;
    // A sent callback is recorded even when the lease is lost, to keep the lease's new holder from sending it again.
    const bounds = verdict.kind === "sent" ? { until } : { until, signal: lease.lost };
    const failure = await this.#write({ id, redrives }, after, result.stored, bounds, found);
    if (failure === undefined) return true;
    const { because, cause: err } = failure;
    log.warn(
      { callId: callback.id, outcome: verdict.kind, reason: because, err },
      "attempt of a callback is not in its record",
    );
    if (verdict.kind !== "retry") {
      // Ten thousand of these may wait, so they hold neither the callback nor its output.
      this.#deferred.add(() => this.#writeDeferred({ id, redrives }, after).catch(() => false));
    }
    return false;
  }

  /** One attempt; true when there is nothing left to write. */
  async #writeDeferred(callback: Pick<QueuedCallback, "id" | "redrives">, after: CallbackState): Promise<boolean> {
    const { ledger } = this.#parts;
    const run = (await ledger.read(callback.id))?.entry.result?.run;
    const stored = run === undefined ? undefined : await ledger.readResult(callback.id, run);
    return (await this.#write(callback, after, stored, { until: performance.now() })) === undefined;
  }

  /** Resolves with why it could not be written; undefined when there is nothing left to write. */
  async #write(
    callback: Pick<QueuedCallback, "id" | "redrives">,
    after: CallbackState,
    stored: StoredResult | undefined,
    bounds: ChangeBounds,
    found?: LedgerEntry,
  ): Promise<Extract<RecordChange<unknown>, { kind: "not-written" }> | undefined> {
    const { ledger, times } = this.#parts;
    const decide = (record: KnownRecord | undefined): RecordDecision<"gone" | "written"> => {
      // Redriven meanwhile: the record no longer describes this attempt.
      if (record?.entry.redrives !== callback.redrives) return { as: "gone" };
      if (record.entry.callback?.state !== "pending") return { as: "written" };
      return { as: "written", write: { ...record.entry, callback: after } };
    };
    const change =
      found === undefined
        ? await changeRecord(ledger, callback.id, decide, bounds)
        : await changeRecord(ledger, callback.id, decide, bounds, found);
    if (change.kind === "not-written") return change;
    const entry = change.kind === "written" ? change.record.entry : change.found?.entry;
    const kept = entry?.result ?? null;
    if (change.as === "gone" || after.state === "pending" || stored === undefined || kept === null) return undefined;
    const ttl = resultTtlOf(times, kept.ttl, false, ledger.fill());
    if (ttl > 0) await ledger.putResult(callback.id, kept.run, stored, ttl);
    else await ledger.removeResult(callback.id, kept.run);
    return undefined;
  }
}

/** What a callback carries: the output, nothing because there was none, or nothing because it could not be kept. */
interface CallbackBody {
  readonly truncated: boolean;
  readonly body?: Uint8Array;
  /** The output as the ledger has it. */
  readonly stored?: StoredResult;
}

function requestOf(callback: QueuedCallback, result: CallbackBody): CallbackRequest {
  const body = result.body ?? new Uint8Array(0);
  const headers = endToEndHeaders(callback.headers);
  if (result.truncated) {
    return {
      url: callback.url,
      body,
      headers: [...withoutHeaders(headers, contentHeaders), header.resultTruncated, "true"],
    };
  }
  return { url: callback.url, body, headers };
}
