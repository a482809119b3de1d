import type { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";

import { PlatformError } from "../../../api/platform-error.ts";
import { decideRetry, mayHaveTakenEffect, type AttemptFacts, type RetryLimits } from "./decide-retry.ts";
import { KubeRefusalError } from "./kube-refusal.ts";
import type { Attempt, KubeExchange, Failed, KubeTransport } from "./kube-transport.ts";
import type { RetryPace } from "./retry-pace.ts";

/** Options of any request. Times are milliseconds. */
export interface KubeOptions {
  readonly signal?: AbortSignal;
  /** Of one attempt. */
  readonly timeout?: number;
  /** 1 when the caller retries itself. */
  readonly attempts?: number;
  /** The request is a retry by the caller: it waits for its turn, as our own retries do, within `retryWindow`. */
  readonly again?: boolean;
}

/** A request, with its task in words: `get Function "dev/echo"`. */
export interface KubeRequest extends Omit<KubeExchange, "timeout" | "signal"> {
  readonly task: string;
  /** Whether the request is idempotent, or the client can tell afterwards whether it took effect. */
  readonly repeatable: boolean;
}

/** A request that failed. `inDoubt`: an attempt may have taken effect anyway. */
export class KubeFailure extends Error {
  override readonly name = "KubeFailure";
  readonly error: PlatformError;
  readonly inDoubt: boolean;

  constructor(error: PlatformError, inDoubt: boolean) {
    super(error.message, { cause: error });
    this.error = error;
    this.inDoubt = inDoubt;
  }
}

export interface RequestLimits extends RetryLimits {
  /** Of one attempt; milliseconds. */
  readonly timeout: number;
}

/** Sends requests, and retries them within limits. */
export class KubeRequests {
  readonly #transport: KubeTransport;
  readonly #limits: RequestLimits;
  readonly #pace: RetryPace;

  constructor(transport: KubeTransport, limits: RequestLimits, pace: RetryPace) {
    this.#transport = transport;
    this.#limits = limits;
    this.#pace = pace;
  }

  /** The JSON of the response. Throws KubeFailure, or the reason of the caller's signal. */
  ask(request: KubeRequest, options: KubeOptions = {}): Promise<unknown> {
    return this.#send(request, options, (exchange) => this.#transport.ask(exchange));
  }

  /** The response body as a stream. Throws as `ask` does. */
  open(request: KubeRequest, options: KubeOptions = {}): Promise<Readable> {
    return this.#send(request, options, (exchange) => this.#transport.open(exchange));
  }

  async #send<T>(
    request: KubeRequest,
    options: KubeOptions,
    attemptOnce: (exchange: KubeExchange) => Promise<Attempt<T>>,
  ): Promise<T> {
    const { signal, timeout = this.#limits.timeout, again: isCallersRetry = false } = options;
    const limits = { ...this.#limits, attempts: options.attempts ?? this.#limits.attempts };
    const startedAt = performance.now();
    let inDoubt = false;
    let last: Failed | undefined;
    for (let attempt = 1; ; attempt += 1) {
      if (isCallersRetry || attempt > 1) {
        const left = limits.retryWindow - (performance.now() - startedAt);
        if (!(await this.#pace.turn(signal, left)))
          throw new KubeFailure(errorOf(request.task, last ?? noTurn), inDoubt);
      }
      // Retries use a new connection; if that is silent, too, the server is slow.
      const mayBeHalfOpen = attempt === 1 && limits.attempts > 1 && request.repeatable;
      const silence = mayBeHalfOpen ? { silence: Math.min(timeout, limits.retryWindow * silentAttemptShare) } : {};
      const end = await attemptOnce({ ...request, timeout, signal, ...silence });
      if (end.kind === "done") {
        if (isCallersRetry || attempt > 1) this.#pace.succeeded();
        return end.value;
      }
      last = end;
      // A definite refusal says nothing about earlier attempts.
      inDoubt ||= mayHaveTakenEffect(end);
      const facts = { attempt, elapsed: performance.now() - startedAt, repeatable: request.repeatable };
      const after = this.#waitBefore(end, facts, limits);
      if (after === undefined) throw new KubeFailure(errorOf(request.task, end), inDoubt);
      await pause(after, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted());
    }
  }

  /** Milliseconds until the next attempt, or undefined for none. */
  #waitBefore(end: Failed, facts: AttemptFacts, limits: RetryLimits): number | undefined {
    // The token may just have been rotated: retry at once with the one that is in the file now.
    if (end.kind === "refused" && end.refusal.status === 401 && facts.attempt === 1) return 0;
    const again = decideRetry(end, facts, limits);
    return again.kind === "again" ? again.after : undefined;
  }
}

/** Share of `retryWindow` that an attempt on a silent connection may use, so that a retry still fits. */
const silentAttemptShare = 0.8;

/** The request got no turn in time. */
const noTurn: Failed = { kind: "away", sent: false, why: "too many requests are waiting to be retried" };

function errorOf(task: string, end: Failed): PlatformError {
  if (end.kind === "refused") return new KubeRefusalError(task, end.refusal);
  const sentence = `Cannot ${task}: the API server does not answer: ${end.why}`;
  return new PlatformError("provider_unavailable", sentence, { cause: end.cause });
}
