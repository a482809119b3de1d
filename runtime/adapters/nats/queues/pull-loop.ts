import type { Msg, Subscription } from "@nats-io/transport-node";

import type { NatsLink } from "../link/nats-link.ts";

/** Milliseconds past its expiry after which a pull request counts as lost. */
const tolerance = 1_500;

export interface PullLaneParts {
  readonly link: NatsLink;
  readonly stream: string;
  readonly consumer: string;
  /** Expiry of one pull request at the broker, milliseconds. */
  readonly expiry: number;
  /** Subject for the messages of this loop alone. */
  readonly inbox: string;
  readonly onMessage: (message: Msg) => void;
  /** The request ended before it was filled; `code` is the status of NATS ADR-13, 408 = it expired. */
  readonly onStatus: (code: number) => void;
}

/**
 * One pull request at a time, with its own inbox, as a delivered message does not say which request it belongs to (its
 * subject is that of the stream).
 */
export class PullLoop {
  readonly #parts: PullLaneParts;
  readonly #subscription: Subscription;
  #left = 0;
  #lostAt = 0;

  constructor(parts: PullLaneParts) {
    this.#parts = parts;
    this.#subscription = parts.link.nc.subscribe(parts.inbox, {
      callback: (err, message) => {
        if (err === null) this.#receive(message);
      },
    });
  }

  /** Messages still expected. */
  get left(): number {
    if (this.#left > 0 && performance.now() > this.#lostAt) this.#left = 0;
    return this.#left;
  }

  /** Requests `count` messages; call it only when none are left of the last request. */
  ask(count: number): void {
    const { link, stream, consumer, inbox, expiry } = this.#parts;
    this.#left = count;
    this.#lostAt = performance.now() + expiry + tolerance;
    const request = JSON.stringify({ batch: count, expires: expiry * 1_000_000 });
    link.nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, request, { reply: inbox });
  }

  /** Gives up the current request, which the broker dropped with the connection. */
  forget(): void {
    this.#left = 0;
  }

  /** Hands over what the broker sent before it learned of the end, then unsubscribes. */
  async drain(): Promise<void> {
    if (!this.#parts.link.isClosed) await this.#subscription.drain().catch(() => {});
  }

  #receive(message: Msg): void {
    // A delivery has a reply subject, a status has none: headers of deliveries are not parsed for this.
    if (message.reply !== undefined && message.reply !== "") {
      this.#left = Math.max(0, this.#left - 1);
      this.#parts.onMessage(message);
      return;
    }
    const code = message.headers?.code ?? 0;
    if (code < 400) return;
    this.#left = 0;
    this.#parts.onStatus(code);
  }
}
