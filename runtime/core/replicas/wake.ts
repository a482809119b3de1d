import { PlatformError } from "../../api/platform-error.ts";
import { lasting, named, publicly, type PublicSentence } from "../../api/public-sentence.ts";
import { finalFailure, whyNotReady } from "../functions/conditions.ts";
import type { FunctionTable, TableEntry } from "./function-table.ts";
import { pickReplica, type ReadyReplica } from "./pick-replica.ts";
import type { FunctionStore } from "../ports/function-store.ts";
import { wakeReplicas } from "../scaling/wake-replicas.ts";

/** What a waker works with; durations in milliseconds. */
export interface WakerParts {
  readonly functions: FunctionStore;
  readonly table: FunctionTable;
  /** Longest a caller waits for a replica. */
  readonly wakeTimeout: number;
  /** Maximum callers that wait at once in this process. */
  readonly maxWaitingCallers: number;
  /** Maximum bytes that waiting callers hold in memory together. */
  readonly maxWaitingBytes: number;
  /** Bytes of that which calls hold that wait for something else. */
  readonly bytesElsewhere?: () => number;
}

/** One caller waiting for a replica. */
export interface WaitingCaller {
  /** Ends the wait with its reason. */
  readonly signal?: AbortSignal;
  /** Bytes that the call holds in memory meanwhile; 0 if absent. */
  readonly bytes?: number;
  /** When the first wait began (`performance.now()`), if this is a further one: the wake timeout covers both. */
  readonly since?: number | undefined;
}

interface Waiter {
  readonly resolve: (replica: ReadyReplica) => void;
  readonly reject: (err: unknown) => void;
  readonly timer: NodeJS.Timeout;
  readonly signal: AbortSignal | undefined;
  readonly bytes: number;
  readonly onAbort: () => void;
}

interface Waking {
  /** In order of arrival. */
  readonly waiters: Set<Waiter>;
  /** A scale-up was requested and the watch has not reported the function since. */
  scaling: boolean;
}

/** Lets callers of a function without a ready replica wait for one, waking it if it is scaled to zero. */
export class Waker {
  readonly #parts: WakerParts;
  readonly #waking = new Map<TableEntry, Waking>();
  #waitingCallers = 0;
  #waitingBytes = 0;

  constructor(parts: WakerParts) {
    this.#parts = parts;
    parts.table.onReplicas((entry) => this.#serve(entry));
    parts.table.onWanted((entry) => {
      const waking = this.#waking.get(entry);
      if (waking === undefined) return;
      waking.scaling = false;
      this.#wake(entry);
    });
    parts.table.onRemoved((entry) => {
      this.#rejectAll(
        entry,
        new PlatformError("function_not_found", `Cannot wake function "${entry.key}": it was removed`),
      );
    });
  }

  /** Callers waiting now. */
  get waitingCallers(): number {
    return this.#waitingCallers;
  }

  /** Bytes that they hold. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /**
   * A ready replica of `entry`: at once if there is one, else as soon as the endpoints show one; any number of callers
   * cause one scale-up to `scale.min`, and are served in order of arrival.
   * @throws PlatformError `no_ready_replica` after the wake timeout, when too many wait already, or at once when its
   * replicas fail and the next is started only after a pause; `function_not_found` when it is removed meanwhile,
   * `provider_unavailable` when it cannot be scaled; the reason of `signal` when it aborts
   */
  wait(entry: TableEntry, caller: WaitingCaller = {}): Promise<ReadyReplica> {
    const ready = pickReplica(entry);
    if (ready !== undefined) return Promise.resolve(ready);
    if (caller.signal?.aborted === true) return Promise.reject(caller.signal.reason);
    const refusal = this.#refusal(entry, caller.bytes ?? 0);
    if (refusal !== undefined) return Promise.reject(refusal);
    const waited = new Promise<ReadyReplica>((resolve, reject) => this.#add(entry, caller, resolve, reject));
    this.#wake(entry);
    return waited;
  }

  /** Why a caller is refused without waiting. */
  #refusal(entry: TableEntry, bytes: number): PlatformError | undefined {
    if (this.#parts.table.findKey(entry.key) !== entry) {
      return new PlatformError("function_not_found", `Cannot wake function "${entry.key}": it was removed`);
    }
    const { maxWaitingCallers, maxWaitingBytes, bytesElsewhere = () => 0 } = this.#parts;
    const held = this.#waitingBytes + bytesElsewhere();
    if (this.#waitingCallers >= maxWaitingCallers)
      return cannotWake(entry, publicly`${this.#waitingCallers} callers are waiting already`);
    if (held + bytes > maxWaitingBytes)
      return cannotWake(entry, publicly`callers with ${held} bytes are waiting already`);
    return finalRefusal(entry);
  }

  #add(
    entry: TableEntry,
    { signal, bytes = 0, since }: WaitingCaller,
    resolve: Waiter["resolve"],
    reject: Waiter["reject"],
  ): void {
    let waking = this.#waking.get(entry);
    if (waking === undefined) {
      waking = { waiters: new Set(), scaling: false };
      this.#waking.set(entry, waking);
    }
    const onAbort = (): void => this.#settle(entry, waiter, () => reject(signal?.reason));
    const waited = since === undefined ? 0 : performance.now() - since;
    const timer = setTimeout(
      () => this.#settle(entry, waiter, () => reject(this.#timeoutError(entry))),
      Math.max(0, this.#parts.wakeTimeout - waited),
    );
    const waiter: Waiter = { resolve, reject, timer, signal, bytes, onAbort };
    signal?.addEventListener("abort", onAbort, { once: true });
    waking.waiters.add(waiter);
    this.#waitingCallers += 1;
    this.#waitingBytes += bytes;
  }

  #settle(entry: TableEntry, waiter: Waiter, complete: () => void): void {
    const waking = this.#waking.get(entry);
    if (waking?.waiters.delete(waiter) !== true) return;
    if (waking.waiters.size === 0) this.#waking.delete(entry);
    this.#waitingCallers -= 1;
    this.#waitingBytes -= waiter.bytes;
    clearTimeout(waiter.timer);
    waiter.signal?.removeEventListener("abort", waiter.onAbort);
    complete();
  }

  #serve(entry: TableEntry): void {
    for (const waiter of this.#waking.get(entry)?.waiters ?? []) {
      const replica = pickReplica(entry);
      if (replica === undefined) break;
      this.#settle(entry, waiter, () => waiter.resolve(replica));
    }
    const refusal = this.#waking.has(entry) ? finalRefusal(entry) : undefined;
    if (refusal !== undefined) this.#rejectAll(entry, refusal);
  }

  #rejectAll(entry: TableEntry, err: unknown): void {
    for (const waiter of this.#waking.get(entry)?.waiters ?? []) this.#settle(entry, waiter, () => waiter.reject(err));
  }

  /** Scales up once while callers wait for a function at 0; again if something scales it down while they wait. */
  #wake(entry: TableEntry): void {
    const waking = this.#waking.get(entry);
    if (waking === undefined || waking.scaling || entry.wanted.replicas > 0) return;
    waking.scaling = true;
    wakeReplicas(this.#parts.functions, entry.ref).catch((err: unknown) => this.#rejectAll(entry, err));
  }

  #timeoutError(entry: TableEntry): PlatformError {
    const late = publicly`no replica ready after ${seconds(this.#parts.wakeTimeout)}`;
    const why = whyNotReady(entry.endpoints?.conditions ?? []);
    if (why === undefined) return cannotWake(entry, late);
    return cannotWake(entry, publicly`${late} (${why.publicly})`, `${String(late)} (${why.message})`);
  }
}

/** The provider's own failure, if it is about the desired generation and no replica is being started now. */
function finalRefusal({ wanted, endpoints, ...entry }: TableEntry): PlatformError | undefined {
  if (wanted.replicas === 0 || endpoints?.observedGeneration !== wanted.generation) return undefined;
  const failure = finalFailure(endpoints.conditions);
  return failure && cannotWake(entry, failure.publicly, failure.message);
}

/** `why` is for callers; `quoted`, if there is more to it, for the log and the record of a queued call. */
function cannotWake({ key }: Pick<TableEntry, "key">, why: PublicSentence, quoted?: string): PlatformError {
  const sentence = publicly`Cannot wake function ${named(key)}: ${why}`;
  const options = { publicly: sentence, retryAfterSeconds: 5 };
  return new PlatformError(
    "no_ready_replica",
    quoted === undefined ? sentence : `Cannot wake function "${key}": ${quoted}`,
    options,
  );
}

function seconds(duration: number): PublicSentence {
  return duration % 1_000 === 0 ? publicly`${duration / 1_000} s` : lasting(duration);
}
