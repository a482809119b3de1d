import { createInbox, type Msg } from "@nats-io/transport-node";

import type { NatsLink } from "../link/nats-link.ts";
import { PullLoop } from "../queues/pull-loop.ts";
import { parseDeliveryFacts, type DeliveryFacts } from "./delivery-facts.ts";

/** A message with what its delivery says of it. */
export interface TailMessage {
  readonly message: Msg;
  readonly facts: DeliveryFacts;
}

/** Messages in their order; that there are none; or that the consumer cannot be used any more. */
export type TailRead =
  | { readonly kind: "messages"; readonly messages: readonly TailMessage[] }
  /** `since`: everything that was stored before was read; monotonic milliseconds. */
  | { readonly kind: "level"; readonly since: number }
  | { readonly kind: "lost" };

export interface RecordTailOptions {
  readonly link: NatsLink;
  readonly stream: string;
  readonly consumer: string;
  readonly inboxPrefix: string;
  /** Most messages of a read; as many again are held for the next one. */
  readonly maxBatch: number;
  /**
   * Milliseconds between two reads while few messages are left, and longest from the first message of a read to its end.
   * Meanwhile messages stay with the broker: delivered one by one as they come, each would wake two processes.
   */
  readonly gatherFor: number;
  /** Milliseconds without a message after which there are none. */
  readonly expiry: number;
}

const requestExpired = 408;
/** Requests of a read at most: one message, all that there were then, and what came meanwhile. */
const askLimit = 3;
/** Milliseconds past its expiry after which a request counts as lost. */
const tolerance = 2_000;

/** Reads one consumer in order, and notices when a message or a request was lost. */
export class RecordTail {
  readonly #options: RecordTailOptions;
  readonly #pull: PullLoop;
  readonly #unsubscribe: () => void;
  #held: TailMessage[] = [];
  #delivered = 0;
  /** Messages that the broker had still to deliver at the last one. */
  #pending = 0;
  /** Requests since the last read was complete: the first is for one message, which says how many there are. */
  #asks = 0;
  /** When the next request may be sent; monotonic milliseconds. */
  #askFrom = 0;
  #askedAt: number | undefined;
  /** When the request was sent that expired with nothing left to deliver. */
  #levelSince: number | undefined;
  #isLost = false;
  #changed: () => void = () => {};

  constructor(options: RecordTailOptions) {
    this.#options = options;
    const { link, stream, consumer, expiry, inboxPrefix } = options;
    this.#pull = new PullLoop({
      link,
      stream,
      consumer,
      expiry,
      inbox: createInbox(inboxPrefix),
      onMessage: (message) => this.#receive(message),
      onStatus: (code) => this.#status(code),
    });
    // Requests do not survive a connection, and neither may the consumer.
    this.#unsubscribe = link.onReconnect(() => this.#lose());
  }

  /** The next messages, or why there are none; "lost" also when `signal` aborts. Held messages come first. */
  async read(signal: AbortSignal): Promise<TailRead> {
    const { gatherFor, expiry } = this.#options;
    const wake = (): void => this.#changed();
    signal.addEventListener("abort", wake);
    try {
      let until: number | undefined;
      while (!signal.aborted) {
        const now = performance.now();
        if (this.#held.length > 0) until ??= now + gatherFor;
        if (until !== undefined && this.#isComplete(now >= until)) return { kind: "messages", messages: this.#take() };
        if (this.#isLost || this.#options.link.isClosed) break;
        if (until === undefined && this.#levelSince !== undefined) return this.#level(this.#levelSince);
        this.#ask();
        const due = this.#askedAt === undefined ? this.#askFrom : this.#askedAt + expiry + tolerance;
        const left = (until ?? due) - now;
        if (left <= 0) this.#lose();
        else await this.#change(left);
      }
      return { kind: "lost" };
    } finally {
      signal.removeEventListener("abort", wake);
    }
  }

  async close(): Promise<void> {
    this.#isLost = true;
    this.#unsubscribe();
    await this.#pull.drain();
  }

  /** Whether what is held is a read: all that there was when it was asked for, or as much as one may have. */
  #isComplete(isOver: boolean): boolean {
    const isAnswered = this.#askedAt === undefined && (this.#pending === 0 || this.#asks >= askLimit);
    return isAnswered || isOver || this.#isLost || this.#held.length >= this.#options.maxBatch;
  }

  #take(): readonly TailMessage[] {
    const { maxBatch, gatherFor } = this.#options;
    const taken = this.#held.splice(0, maxBatch);
    this.#asks = 0;
    this.#askFrom = performance.now() + (this.#isBehind ? 0 : gatherFor);
    // The next messages are on their way while these are worked on.
    this.#ask();
    return taken;
  }

  get #isBehind(): boolean {
    return this.#pending > this.#options.maxBatch / 2;
  }

  #level(since: number): TailRead {
    this.#levelSince = undefined;
    return { kind: "level", since };
  }

  #ask(): void {
    const room = this.#options.maxBatch - this.#held.length;
    if (this.#isLost || this.#askedAt !== undefined || room <= 0 || performance.now() < this.#askFrom) return;
    const knows = this.#asks > 0 || this.#isBehind;
    this.#asks += 1;
    this.#askedAt = performance.now();
    this.#pull.ask(knows ? Math.max(1, Math.min(room, this.#pending)) : 1);
  }

  #receive(message: Msg): void {
    const facts = parseDeliveryFacts(message.reply ?? "");
    if (this.#isLost) return;
    if (facts.delivery !== this.#delivered + 1) return this.#lose();
    this.#delivered += 1;
    this.#pending = facts.pending;
    this.#levelSince = undefined;
    this.#held.push({ message, facts });
    if (this.#pull.left === 0) this.#askedAt = undefined;
    this.#changed();
  }

  #status(code: number): void {
    if (code !== requestExpired) return this.#lose();
    this.#levelSince = this.#askedAt;
    this.#pending = 0;
    this.#askedAt = undefined;
    this.#changed();
  }

  #lose(): void {
    this.#isLost = true;
    this.#changed();
  }

  /** Resolves at the next change, or after `longest` milliseconds. */
  #change(longest: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, longest);
      this.#changed = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
