import type { Duplex } from "node:stream";

import type { UpstreamCall, UpstreamListener } from "../../core/ports/upstream.ts";
import type { RawRequest } from "./request-head.ts";

/** What a call needs of the connection that carries it. */
export interface CallCarrier {
  resume(): void;
  /** Closes the connection; the call is not told. */
  abort(): void;
}

/** One call from its dispatch to the last event for its listener. */
export class RawCall implements UpstreamCall {
  readonly request: RawRequest;
  readonly listener: UpstreamListener;
  /** Undefined once the call is over. */
  carrier: CallCarrier | undefined;
  /** A kept connection closed before the response began: the call is retried over a new one, whose failure is final. */
  retried = false;
  #over = false;

  constructor(request: RawRequest, listener: UpstreamListener) {
    this.request = request;
    this.listener = listener;
  }

  /** Whether it has ended or was aborted. */
  get ended(): boolean {
    return this.#over;
  }

  resume(): void {
    this.carrier?.resume();
  }

  abort(): void {
    if (this.#over) return;
    this.#finish()?.abort();
  }

  end(): void {
    if (this.#over) return;
    this.#finish();
    this.listener.onEnd();
  }

  /** Hands the connection to the listener, which owns it from now on. */
  handOver(headers: readonly string[], connection: Duplex): void {
    if (this.#over) return;
    this.#finish();
    this.listener.onUpgrade?.(headers, connection);
  }

  fail(kind: "refused" | "reset" | "malformed", err: Error): void {
    if (this.#over) return;
    this.#finish();
    this.listener.onError(kind, err);
  }

  #finish(): CallCarrier | undefined {
    const { carrier } = this;
    this.carrier = undefined;
    this.#over = true;
    return carrier;
  }
}
