import { createInbox, type Msg } from "@nats-io/transport-node";

import type { Delivery, DeliverySource } from "../../../core/ports/call-queue.ts";
import { NatsDelivery, type ContentParser } from "./nats-delivery.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { PullLoop } from "./pull-loop.ts";

const errorPause = 250;
/**
 * A consumer that is missing is added after this long: the broker says that it is gone before its files are, and would
 * remove those of a new one of the same name. Whoever deleted it adds it again sooner.
 */
const addPause = 1_000;
/** How often lost pull requests are looked for. */
const lookAtLanes = 1_000;
/** Most pull requests at once; each may ask for many messages. */
const mostLanes = 16;
const ranOut = 408;
const usualPatience = 5_000;

export interface DeliverySourceOptions<T> {
  readonly link: NatsLink;
  readonly stream: string;
  readonly consumer: string;
  /** Queue that deliveries say they come from. */
  readonly queue: string;
  readonly inboxPrefix: string;
  /** Milliseconds one request waits at the broker; 5 s when absent. */
  readonly patience?: number | undefined;
  readonly parse: ContentParser<T>;
  /** Adds the consumer if it is missing; never changes one that is there. */
  readonly addConsumer: () => Promise<void>;
}

/**
 * Pulls from a durable JetStream consumer, asking for exactly as many messages as there are free slots, so that no
 * message waits inside this process while its lease runs.
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
    await new Taking(this.#options, slots, handle, mayAsk).run(signal);
  }
}

class Taking<T> {
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
    const { link, stream, consumer, patience = usualPatience } = options;
    const inbox = createInbox(options.inboxPrefix);
    this.#lanes = Array.from(
      { length: Math.min(slots, mostLanes) },
      (_, lane) =>
        new PullLoop({
          link,
          stream,
          consumer,
          patience,
          inbox: `${inbox}.${lane}`,
          onMessage: (message) => this.#receive(message),
          onStatus: (code) => this.#status(code),
        }),
    );
  }

  async run(signal: AbortSignal): Promise<void> {
    const { link } = this.#options;
    const forget = link.onReconnect(() => {
      for (const lane of this.#lanes) lane.forget();
      this.#changed();
    });
    const wake = (): void => this.#changed();
    signal.addEventListener("abort", wake);
    try {
      while (!signal.aborted && !link.isClosed) {
        this.#pull();
        const pause = this.#pausedUntil - performance.now();
        await this.#change(pause > 0 ? pause : lookAtLanes);
      }
    } finally {
      this.#stopping = true;
      clearTimeout(this.#adding);
      signal.removeEventListener("abort", wake);
      forget();
      await Promise.all(this.#lanes.map((lane) => lane.drain()));
      while (this.#busy > 0) await this.#change(lookAtLanes);
    }
  }

  /** Asks for what is free and not yet asked for. */
  #pull(): void {
    if (performance.now() < this.#pausedUntil || this.#options.link.downFor() > 0 || !this.#mayAsk()) return;
    let asked = 0;
    let idle: PullLoop | undefined;
    for (const lane of this.#lanes) {
      const { left } = lane;
      asked += left;
      if (left === 0) idle = lane;
    }
    const free = this.#slots - this.#busy - asked;
    if (free > 0) idle?.ask(free);
  }

  #receive(message: Msg): void {
    const delivery = new NatsDelivery(this.#options.link, this.#options.queue, message, this.#options.parse);
    // What comes after the end, or late from a request that counted as lost, is for somebody else.
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

  /** A pull that ran out is how an empty queue looks; anything else: wait, and soon see that the consumer is there. */
  #status(code: number): void {
    if (code !== ranOut) {
      this.#pausedUntil = performance.now() + errorPause * (1 + Math.random());
      this.#adding ??= setTimeout(() => {
        this.#adding = undefined;
        void this.#options.addConsumer().catch(() => {});
      }, addPause);
    }
    this.#changed();
  }

  /** Resolves when something changed, or after `longest` milliseconds. */
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
