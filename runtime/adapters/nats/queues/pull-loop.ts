import type { Msg, Subscription } from "@nats-io/transport-node";

import type { NatsLink } from "../link/nats-link.ts";

/** Milliseconds without a sign of a pull request after which it counts as lost. */
const tolerance = 1_500;
/** Longest time between two signs that the broker gives while nothing comes, milliseconds. */
const longestHeartbeat = 1_000;
const idleHeartbeat = 100;

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
    this.#seen();
    const heartbeat = this.#heartbeat * 1_000_000;
    const request = JSON.stringify({ batch: count, expires: expiry * 1_000_000, idle_heartbeat: heartbeat });
    link.nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, request, { reply: inbox });
  }

  /** The server that leads the consumer may hang, or lose the request: without its signs another one is sent. */
  #seen(): void {
    this.#lostAt = performance.now() + this.#heartbeat + tolerance;
  }

  /** At most half of the expiry, which the broker demands. */
  get #heartbeat(): number {
    return Math.min(longestHeartbeat, Math.floor(this.#parts.expiry / 2));
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
      this.#seen();
      this.#parts.onMessage(message);
      return;
    }
    const code = message.headers?.code ?? 0;
    if (code === idleHeartbeat) this.#seen();
    if (code < 400) return;
    this.#left = 0;
    this.#parts.onStatus(code);
  }
}
