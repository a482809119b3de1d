import type { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";

import { PlatformError } from "../../../api/platform-error.ts";
import { decideAgain, mayBeDone, type AttemptFacts, type RetryLimits } from "./decide-again.ts";
import { KubeRefusalError } from "./kube-refusal.ts";
import type { Attempt, KubeExchange, Failed, KubeTransport } from "./kube-transport.ts";
import type { RetryPace } from "./retry-pace.ts";

/** What a caller may say of any request. Times are milliseconds. */
export interface KubeOptions {
  readonly signal?: AbortSignal;
  /** Of one attempt. */
  readonly timeout?: number;
  /** 1: the caller asks again itself. */
  readonly attempts?: number;
  /** The request follows a failed one of the caller's own: it waits for its turn, as retries do, within `patience`. */
  readonly again?: boolean;
}

/** A request and what it is in words: `get Function "dev/echo"`. */
export interface KubeRequest extends Omit<KubeExchange, "timeout" | "signal"> {
  readonly task: string;
  /** Whether to do it twice is to do it once, or whether it can be told afterwards. */
  readonly repeatable: boolean;
}

/** The end of a request that was not done; `inDoubt`: an attempt may have been done all the same. */
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

/** Sends requests, again if need be, within limits. */
export class KubeRequests {
  readonly #transport: KubeTransport;
  readonly #limits: RequestLimits;
  readonly #pace: RetryPace;

  constructor(transport: KubeTransport, limits: RequestLimits, pace: RetryPace) {
    this.#transport = transport;
    this.#limits = limits;
    this.#pace = pace;
  }

  /** The answer's JSON. Throws KubeFailure, or the reason of the caller's signal. */
  ask(request: KubeRequest, options: KubeOptions = {}): Promise<unknown> {
    return this.#send(request, options, (exchange) => this.#transport.ask(exchange));
  }

  /** The answer's body as it comes. Throws as `ask` does. */
  open(request: KubeRequest, options: KubeOptions = {}): Promise<Readable> {
    return this.#send(request, options, (exchange) => this.#transport.open(exchange));
  }

  async #send<T>(
    request: KubeRequest,
    options: KubeOptions,
    attemptOnce: (exchange: KubeExchange) => Promise<Attempt<T>>,
  ): Promise<T> {
    const { signal, timeout = this.#limits.timeout, again: follows = false } = options;
    const limits = { ...this.#limits, attempts: options.attempts ?? this.#limits.attempts };
    const startedAt = performance.now();
    let inDoubt = false;
    let last: Failed | undefined;
    for (let attempt = 1; ; attempt += 1) {
      if (follows || attempt > 1) {
        const left = limits.patience - (performance.now() - startedAt);
        if (!(await this.#pace.turn(signal, left)))
          throw new KubeFailure(errorOf(request.task, last ?? crowded), inDoubt);
      }
      // Those that follow go over a new connection: there it is the server that takes its time.
      const mayBeHalfOpen = attempt === 1 && limits.attempts > 1 && request.repeatable;
      const silence = mayBeHalfOpen ? { silence: Math.min(timeout, limits.patience * shareOfPatience) } : {};
      const end = await attemptOnce({ ...request, timeout, signal, ...silence });
      if (end.kind === "done") {
        if (follows || attempt > 1) this.#pace.succeeded();
        return end.value;
      }
      last = end;
      // An attempt that was refused in full says nothing of those before it.
      inDoubt ||= mayBeDone(end);
      const facts = { attempt, elapsed: performance.now() - startedAt, repeatable: request.repeatable };
      const after = this.#waitBefore(end, facts, limits);
      if (after === undefined) throw new KubeFailure(errorOf(request.task, end), inDoubt);
      await pause(after, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted());
    }
  }

  /** Milliseconds until the next attempt, or undefined for none. */
  #waitBefore(end: Failed, facts: AttemptFacts, limits: RetryLimits): number | undefined {
    // A token that was replaced a moment ago is read again at once.
    if (end.kind === "refused" && end.refusal.status === 401 && facts.attempt === 1) return 0;
    const again = decideAgain(end, facts, limits);
    return again.kind === "again" ? again.after : undefined;
  }
}

/** Of its caller's patience an attempt on a silent connection takes no more, or none could follow. */
const shareOfPatience = 0.8;

/** There was no turn for it in time. */
const crowded: Failed = { kind: "away", sent: false, why: "too many requests wait to be sent again" };

function errorOf(task: string, end: Failed): PlatformError {
  if (end.kind === "refused") return new KubeRefusalError(task, end.refusal);
  const sentence = `Cannot ${task}: the API server does not answer: ${end.why}`;
  return new PlatformError("provider_unavailable", sentence, { cause: end.cause });
}
