import { requestTimeout, type NatsLink } from "./nats-link.ts";

/** Milliseconds until the clock is read again. A reading is accurate to half its round trip; drift is far smaller. */
const freshFor = 10_000;

/**
 * The broker's clock as this process knows it: read now and then, and advanced by the monotonic clock in between.
 * Setting this machine's clock has no effect on it.
 */
export class BrokerClock {
  readonly #link: NatsLink;
  readonly #stream: string;
  /** Broker's time minus `performance.now()`. */
  #offset: number | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  /** `stream` is any stream that this user may query. */
  constructor(link: NatsLink, stream: string) {
    this.#link = link;
    this.#stream = stream;
  }

  /** Unix milliseconds; this machine's own clock until the broker has replied once. */
  now(): number {
    if (performance.now() - this.#readAt > freshFor) void this.#refresh();
    return this.#offset === undefined ? Date.now() : Math.round(performance.now() + this.#offset);
  }

  /** Resolves when the broker's time is known, or cannot be read now. */
  async known(): Promise<void> {
    if (this.#offset === undefined && this.#link.downFor() === 0) await this.#refresh();
  }

  #refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const sentAt = performance.now();
    this.#readAt = sentAt;
    try {
      const reply = await this.#link.request(`$JS.API.STREAM.INFO.${this.#stream}`, "", { timeout: requestTimeout });
      const { ts } = reply.json<{ ts?: string }>();
      const time = Date.parse(ts ?? "");
      if (!Number.isNaN(time)) this.#offset = time - (sentAt + performance.now()) / 2;
    } catch {
      // The last offset is still good enough.
    }
  }
}
