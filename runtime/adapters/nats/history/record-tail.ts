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
  /** Milliseconds from its first message after which a read is complete. */
  readonly gatherFor: number;
  /** Milliseconds without a message after which there are none. */
  readonly expiry: number;
}

const requestExpired = 408;
/** Milliseconds past its expiry after which a request counts as lost. */
const tolerance = 2_000;

/** Reads one consumer in order, and notices when a message or a request was lost. */
export class RecordTail {
  readonly #options: RecordTailOptions;
  readonly #pull: PullLoop;
  readonly #unsubscribe: () => void;
  #held: TailMessage[] = [];
  #delivered = 0;
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
    const { maxBatch, gatherFor, expiry } = this.#options;
    const wake = (): void => this.#changed();
    signal.addEventListener("abort", wake);
    try {
      let until: number | undefined;
      while (!signal.aborted) {
        const now = performance.now();
        if (this.#held.length > 0) until ??= now + gatherFor;
        const isComplete = until !== undefined && (now >= until || this.#held.length >= maxBatch || this.#isLost);
        if (isComplete) return { kind: "messages", messages: this.#take() };
        if (this.#isLost || this.#options.link.isClosed) break;
        if (until === undefined && this.#levelSince !== undefined) return this.#level(this.#levelSince);
        this.#ask();
        const left = (until ?? (this.#askedAt ?? now) + expiry + tolerance) - now;
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

  #take(): readonly TailMessage[] {
    const taken = this.#held.splice(0, this.#options.maxBatch);
    // The next messages are on their way while these are worked on.
    this.#ask();
    return taken;
  }

  #level(since: number): TailRead {
    this.#levelSince = undefined;
    return { kind: "level", since };
  }

  #ask(): void {
    const { maxBatch } = this.#options;
    if (this.#isLost || this.#askedAt !== undefined || this.#held.length >= maxBatch) return;
    this.#askedAt = performance.now();
    this.#pull.ask(maxBatch);
  }

  #receive(message: Msg): void {
    const facts = parseDeliveryFacts(message.reply ?? "");
    if (this.#isLost) return;
    if (facts.delivery !== this.#delivered + 1) return this.#lose();
    this.#delivered += 1;
    this.#levelSince = undefined;
    this.#held.push({ message, facts });
    if (this.#pull.left === 0) this.#askedAt = undefined;
    this.#changed();
  }

  #status(code: number): void {
    if (code !== requestExpired) return this.#lose();
    this.#levelSince = this.#askedAt;
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
