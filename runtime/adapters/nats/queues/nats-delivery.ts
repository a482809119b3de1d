import type { Msg } from "@nats-io/transport-node";

import type { Delivery } from "../../../core/ports/call-queue.ts";
import { headerMap } from "./call-message.ts";
import type { NatsLink } from "../link/nats-link.ts";

const acknowledgeAttempts = 5;
const acknowledgeTimeout = 1_000;
/** Longest delay of one requeue, milliseconds; the call record knows when the call is due. */
const longestDelay = 3_600_000;

/** Reads the content of a message; see the parsers beside this file. */
export type ContentParser<T> = (
  headers: ReadonlyMap<string, string>,
  body: Uint8Array,
) => { readonly read: T } | { readonly unreadable: string };

/** Stream sequence and time from a JetStream reply subject (NATS ADR-15, also its longer form). */
function replyFacts(reply: string): { readonly sequence: number; readonly storedAt: number } {
  const parts = reply.split(".");
  const shift = parts.length >= 11 ? 2 : 0;
  return { sequence: Number(parts[5 + shift] ?? 0), storedAt: Number(parts[7 + shift] ?? 0) / 1e6 };
}

/** One message of a work queue, leased until it is acknowledged or requeued. */
export class NatsDelivery<T> implements Delivery<T> {
  readonly content: { readonly read: T } | { readonly unreadable: string };
  readonly raw: { readonly headers: ReadonlyMap<string, string>; readonly body: Uint8Array };
  readonly queue: string;
  readonly sequence: number;
  readonly storedAt: number;
  readonly deliveredAt: number = performance.now();
  readonly #link: NatsLink;
  readonly #reply: string;

  constructor(link: NatsLink, queue: string, message: Msg, parse: ContentParser<T>) {
    this.#link = link;
    this.#reply = message.reply ?? "";
    this.queue = queue;
    const { sequence, storedAt } = replyFacts(this.#reply);
    this.sequence = sequence;
    this.storedAt = storedAt;
    this.raw = { headers: headerMap(message.headers), body: message.data };
    this.content = parse(this.raw.headers, this.raw.body);
  }

  extend(): boolean {
    return this.#publish("+WPI");
  }

  async acknowledge(): Promise<boolean> {
    for (let attempt = 0; attempt < acknowledgeAttempts; attempt++) {
      try {
        // A request: the broker confirms that the acknowledgement was stored ("double ack").
        await this.#link.request(this.#reply, "+ACK", { timeout: acknowledgeTimeout });
        return true;
      } catch {
        if (this.#link.isClosed) return false;
      }
    }
    return false;
  }

  requeue(delay: number): void {
    // Whole milliseconds: fractions of a nanosecond make the broker ignore the delay.
    const milliseconds = Math.max(0, Math.min(Math.round(delay), longestDelay));
    this.#publish(milliseconds === 0 ? "-NAK" : `-NAK {"delay": ${milliseconds * 1_000_000}}`);
  }

  #publish(verdict: string): boolean {
    if (this.#link.isClosed || this.#link.downFor() > 0) return false;
    this.#link.nc.publish(this.#reply, verdict);
    return true;
  }
}
