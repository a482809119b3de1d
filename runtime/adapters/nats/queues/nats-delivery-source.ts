import { createInbox, type Msg } from "@nats-io/transport-node";

import type { Delivery, DeliverySource } from "../../../core/ports/call-queue.ts";
import { NatsDelivery, type ContentParser } from "./nats-delivery.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { PullLoop } from "./pull-loop.ts";

const errorPause = 250;
/**
 * Delay before a missing consumer is added, milliseconds. The broker reports a consumer as gone before its files are,
 * and would then remove the files of a new one with the same name. A rebuild adds the consumer itself before that.
 */
const addPause = 1_000;
/** Milliseconds between two checks for lost pull requests. */
const checkPeriod = 1_000;
/** Most pull requests at once; each may ask for many messages. */
const maxLanes = 16;
const requestExpired = 408;
const defaultExpiry = 5_000;

export interface DeliverySourceOptions<T> {
  readonly link: NatsLink;
  readonly stream: string;
  readonly consumer: string;
  /** Name of the queue, as deliveries give it. */
  readonly queue: string;
  readonly inboxPrefix: string;
  /** Expiry of one pull request at the broker, milliseconds; 5 s when absent. */
  readonly expiry?: number | undefined;
  readonly parse: ContentParser<T>;
  /** Adds the consumer if it is missing; never changes one that is there. */
  readonly addConsumer: () => Promise<void>;
}

/**
 * Pulls from a durable JetStream consumer. It asks for exactly as many messages as there are free slots, so that no
 * message waits in this process while its lease runs.
 */
export class NatsDeliverySource<T> implements DeliverySource<T> {
  readonly #options: DeliverySourceOptions<T>;

  constructor(options: DeliverySourceOptions<T>) {
    this.#options = options;
  }

  async take(
    slots: number,
    handle: (delivery: Delivery<T>) => Promise<void>,
    signal: AbortSignal,
    mayAsk?: () => boolean,
  ): Promise<void> {
    await new PullSession(this.#options, slots, handle, mayAsk).run(signal);
  }
}

class PullSession<T> {
  readonly #options: DeliverySourceOptions<T>;
  readonly #slots: number;
  readonly #handle: (delivery: Delivery<T>) => Promise<void>;
  readonly #mayAsk: () => boolean;
  readonly #lanes: PullLoop[];
  #busy = 0;
  #stopping = false;
  #pausedUntil = 0;
  #adding: NodeJS.Timeout | undefined;
  #changed: () => void = () => {};

  constructor(
    options: DeliverySourceOptions<T>,
    slots: number,
    handle: (delivery: Delivery<T>) => Promise<void>,
    mayAsk: () => boolean = () => true,
  ) {
    this.#options = options;
    this.#mayAsk = mayAsk;
    this.#slots = slots;
    this.#handle = handle;
    const { link, stream, consumer, expiry = defaultExpiry } = options;
    const inbox = createInbox(options.inboxPrefix);
    this.#lanes = Array.from(
      { length: Math.min(slots, maxLanes) },
      (_, lane) =>
        new PullLoop({
          link,
          stream,
          consumer,
          expiry,
          inbox: `${inbox}.${lane}`,
          onMessage: (message) => this.#receive(message),
          onStatus: (code) => this.#status(code),
        }),
    );
  }

  async run(signal: AbortSignal): Promise<void> {
    const { link } = this.#options;
    const unsubscribe = link.onReconnect(() => {
      for (const lane of this.#lanes) lane.forget();
      this.#changed();
    });
    const wake = (): void => this.#changed();
    signal.addEventListener("abort", wake);
    try {
      while (!signal.aborted && !link.isClosed) {
        this.#pull();
        const pause = this.#pausedUntil - performance.now();
        await this.#change(pause > 0 ? pause : checkPeriod);
      }
    } finally {
      this.#stopping = true;
      clearTimeout(this.#adding);
      signal.removeEventListener("abort", wake);
      unsubscribe();
      await Promise.all(this.#lanes.map((lane) => lane.drain()));
      while (this.#busy > 0) await this.#change(checkPeriod);
    }
  }

  /** Requests messages for slots that are free and not yet requested. */
  #pull(): void {
    if (performance.now() < this.#pausedUntil || this.#options.link.downFor() > 0 || !this.#mayAsk()) return;
    let requested = 0;
    let idle: PullLoop | undefined;
    for (const lane of this.#lanes) {
      const { left } = lane;
      requested += left;
      if (left === 0) idle = lane;
    }
    const free = this.#slots - this.#busy - requested;
    if (free > 0) idle?.ask(free);
  }

  #receive(message: Msg): void {
    const delivery = new NatsDelivery(this.#options.link, this.#options.queue, message, this.#options.parse);
    // A message that comes after the stop, or late for a request that counted as lost, goes to another worker.
    if (this.#stopping || this.#busy >= this.#slots) {
      delivery.requeue(0);
      return;
    }
    this.#busy++;
    void this.#handle(delivery).finally(() => {
      this.#busy--;
      this.#changed();
    });
    this.#changed();
  }

  /** An expired request is normal for an empty queue. On any other status: pause, and soon add a missing consumer. */
  #status(code: number): void {
    if (code !== requestExpired) {
      this.#pausedUntil = performance.now() + errorPause * (1 + Math.random());
      this.#adding ??= setTimeout(() => {
        this.#adding = undefined;
        void this.#options.addConsumer().catch(() => {});
      }, addPause);
    }
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
