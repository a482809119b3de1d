import type { Duplex } from "node:stream";

import type { UpstreamCall, UpstreamListener } from "../../../../core/ports/upstream.ts";
import type { RawRequest } from "./request-head.ts";

/** What a call wants of the connection that carries it. */
export interface CallCarrier {
  resume(): void;
  /** Closes the connection; the call hears nothing of it. */
  abandon(): void;
}

/** One call from its dispatch to the last that its listener hears. */
export class RawCall implements UpstreamCall {
  readonly request: RawRequest;
  readonly listener: UpstreamListener;
  /** Undefined once the call is over. */
  carrier: CallCarrier | undefined;
  /** A kept connection ended before it answered: it is sent once more, over a new one, whose end is the call's. */
  sentAgain = false;
  #over = false;

  constructor(request: RawRequest, listener: UpstreamListener) {
    this.request = request;
    this.listener = listener;
  }

  /** Whether nobody wants to hear of it any more. */
  get over(): boolean {
    return this.#over;
  }

  resume(): void {
    this.carrier?.resume();
  }

  abort(): void {
    if (this.#over) return;
    this.#finish()?.abandon();
  }

  end(): void {
    if (this.#over) return;
    this.#finish();
    this.listener.onEnd();
  }

  /** The connection is the listener's from now on. */
  hand(headers: readonly string[], connection: Duplex): void {
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
