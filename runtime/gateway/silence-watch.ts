import type { CallRequest, CallResponse } from "./invocation/exchange.ts";

interface Watched {
  readonly request: CallRequest;
  readonly response: CallResponse;
  bytes: number;
  /** Last time it gave a sign of life, or was not asked for one. */
  since: number;
  readonly deadline: number;
}

/** Limits in milliseconds. */
export interface SilenceLimits {
  /** Longest a body may rest without a byte while it is being read. */
  readonly silence: number;
  /** Called when a body is too slow; ends the request. */
  readonly onSilent: (request: CallRequest, response: CallResponse) => void;
}

/** Finds requests whose body stops coming. A body that nobody reads at the moment is not silent. */
export class SilenceWatch {
  readonly #limits: SilenceLimits;
  readonly #watched = new Map<CallResponse, Watched>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: SilenceLimits) {
    this.#limits = limits;
  }

  /** Watches until the response is closed; `longest` bounds the whole body, in milliseconds. */
  watch(request: CallRequest, response: CallResponse, longest = Number.POSITIVE_INFINITY): void {
    const now = performance.now();
    this.#watched.set(response, {
      request,
      response,
      bytes: request.socket.bytesRead,
      since: now,
      deadline: now + longest,
    });
    response.once("close", () => this.#watched.delete(response));
    this.#timer ??= setInterval(() => this.#sweep(), Math.min(1_000, this.#limits.silence / 5)).unref();
  }

  #sweep(): void {
    if (this.#watched.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const now = performance.now();
    for (const watched of this.#watched.values()) {
      const { request, response } = watched;
      if (request.complete || request.socket.destroyed) {
        this.#watched.delete(response);
        continue;
      }
      const { bytesRead } = request.socket;
      if (bytesRead !== watched.bytes || request.readableFlowing !== true) {
        watched.bytes = bytesRead;
        watched.since = now;
      }
      if (now - watched.since >= this.#limits.silence || now >= watched.deadline) {
        this.#watched.delete(response);
        this.#limits.onSilent(request, response);
      }
    }
  }
}
