import { header } from "../api/names.ts";
import type { CallEntry, CallbackState } from "../core/call-entry.ts";
import { resultTtlOf } from "../core/call-ttl.ts";
import { attemptsByAge, isTooDeep, judgeCallback, type CallbackVerdict } from "../core/decide-callback.ts";
import { endToEndHeaders } from "../core/hop-by-hop.ts";
import { withoutHeaders } from "../core/header-list.ts";
import type { LedgerEntry, StoredResult } from "../core/ports/call-ledger.ts";
import type { Delivery } from "../core/ports/call-queue.ts";
import type { CallbackRequest } from "../core/ports/callback-sender.ts";
import type { QueuedCallback } from "../core/ports/callback-queue.ts";
import { buryCallback, buryUnreadableCallback } from "./bury-callback.ts";
import { HostSlots } from "./host-slots.ts";
import { Lease } from "./lease.ts";
import type { WorkerParts } from "./worker-parts.ts";

/** Callbacks sent at once to one host. */
const slotsPerHost = 4;
const hostFullDelay = 1_000;
const contentHeaders = new Set(["content-length", "content-encoding", "content-type"]);

/** Sends owed callbacks, each until it is answered, refused for good, or its window is over. */
export class CallbackHandler {
  readonly #parts: WorkerParts;
  readonly #stop: AbortSignal;
  readonly #hosts = new HostSlots(slotsPerHost);

  /** `stop` cuts sends off; they are offered again. */
  constructor(parts: WorkerParts, stop: AbortSignal) {
    this.#parts = parts;
    this.#stop = stop;
  }

  /** Deals with one delivery; never rejects. */
  async handle(delivery: Delivery<QueuedCallback>): Promise<void> {
    const lease = new Lease({
      ackWait: this.#parts.callbackAckWait,
      deliveredAt: delivery.deliveredAt,
      extend: () => delivery.extend(),
    });
    try {
      if ("unreadable" in delivery.content) {
        await buryUnreadableCallback(this.#parts, delivery, delivery.content.unreadable);
        await delivery.acknowledge();
      } else {
        await this.#deal(delivery, delivery.content.read, lease);
      }
    } catch (err) {
      // Offered again at once would storm a broker that is just coming back.
      this.#parts.log.warn({ err, sequence: delivery.sequence }, "callback is put back");
      if (!lease.lost.aborted) delivery.putBack(hostFullDelay);
    } finally {
      lease.close();
    }
  }

  async #deal(delivery: Delivery<QueuedCallback>, callback: QueuedCallback, lease: Lease): Promise<void> {
    // Before anything is read: of very many to one host most only learn that it is not their turn.
    const release = this.#hosts.take(callback.url);
    if (release === undefined) {
      delivery.putBack(hostFullDelay);
      return;
    }
    try {
      await this.#look(delivery, callback, lease);
    } finally {
      release();
    }
  }

  async #look(delivery: Delivery<QueuedCallback>, callback: QueuedCallback, lease: Lease): Promise<void> {
    const found = await this.#parts.ledger.read(callback.id);
    // A call that was redriven is called back at each of its ends; its record tells of the last one.
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
      // Without a record nobody counts: its entry's age tells how often it will have been tried.
      attempts: attemptsByAge(now - delivery.storedAt, callbackTimes),
      first: delivery.storedAt,
    };
    let verdict: CallbackVerdict;
    if (isTooDeep(callback.depth)) {
      verdict = { kind: "failed", status: undefined, error: "the chain of callbacks is too deep" };
    } else {
      const signal = AbortSignal.any([this.#stop, lease.lost]);
      const outcome = await this.#parts.sender.send(requestOf(callback, result), signal);
      if (signal.aborted) {
        if (!lease.lost.aborted) delivery.putBack(hostFullDelay);
        return;
      }
      verdict = judgeCallback(outcome, { ...state, first: state.first ?? now }, ledger.now(), callbackTimes);
    }
    this.#parts.metrics.callbacks.inc({ queue_name: callback.queue, outcome: verdict.kind });
    if (verdict.kind === "failed") {
      await buryCallback(this.#parts, callback, {
        attempts: state.attempts + 1,
        verdict,
        output: { body: result.body ?? new Uint8Array(0), truncated: result.truncated },
      });
    }
    if (found !== undefined) await this.#record(callback, state, now, verdict, found, result);
    lease.close();
    if (verdict.kind === "retry") delivery.putBack(verdict.delay);
    else await delivery.acknowledge();
  }

  async #resultOf(callback: QueuedCallback, entry: CallEntry | undefined): Promise<CallbackBody> {
    if (callback.output !== undefined) {
      const { body, truncated } = callback.output;
      return truncated ? { truncated } : { truncated, body };
    }
    if (entry === undefined) return { truncated: true };
    // The call was redriven: what the record says of a result is of a later run.
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

  /** Writes the attempt into the record; the result then lives only as long as the function's annotation says. */
  async #record(
    callback: QueuedCallback,
    before: CallbackState,
    startedAt: number,
    verdict: CallbackVerdict,
    found: LedgerEntry,
    result: CallbackBody,
  ): Promise<void> {
    const { ledger } = this.#parts;
    const after: CallbackState = {
      ...before,
      state: verdict.kind === "retry" ? "pending" : verdict.kind,
      attempts: before.attempts + 1,
      first: before.first ?? startedAt,
      ...(verdict.status === undefined ? {} : { status: verdict.status }),
    };
    let { entry, revision } = found;
    for (let race = 0; race < 10; race++) {
      const written = await ledger.update(callback.id, { ...entry, callback: after }, revision);
      if (written !== undefined) break;
      const again = await ledger.read(callback.id);
      // Redriven meanwhile: the record tells of that, and no more of this attempt.
      if (again === undefined || again.entry.redrives !== callback.redrives) return;
      ({ entry, revision } = again);
      // Written already, perhaps by this very update, its answer lost.
      if (entry.callback?.state !== "pending") break;
    }
    if (verdict.kind === "retry" || result.stored === undefined || entry.result === null) return;
    const ttl = resultTtlOf(this.#parts.times, entry.result.ttl, false, ledger.fill());
    if (ttl > 0) await ledger.putResult(callback.id, entry.result.run, result.stored, ttl);
    else await ledger.removeResult(callback.id, entry.result.run);
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
