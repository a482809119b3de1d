import { requestTimeout, type NatsLink } from "./nats-link.ts";

/** The answer is right to half the time it took; drift between two looks is far less. */
const freshFor = 10_000;

/**
 * The broker's clock as this process knows it: asked for now and then, and in between moved on by the monotonic clock.
 * A clock of this machine that is set moves nothing.
 */
export class BrokerClock {
  readonly #link: NatsLink;
  readonly #stream: string;
  /** Broker's time less `performance.now()`. */
  #offset: number | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;

  /** `stream` is any that this user may ask about. */
  constructor(link: NatsLink, stream: string) {
    this.#link = link;
    this.#stream = stream;
  }

  /** Unix milliseconds; this machine's own until the broker answered once. */
  now(): number {
    if (performance.now() - this.#askedAt > freshFor) void this.#ask();
    return this.#offset === undefined ? Date.now() : Math.round(performance.now() + this.#offset);
  }

  /** Resolves when the broker's time is known, or cannot be had now. */
  async known(): Promise<void> {
    if (this.#offset === undefined && this.#link.downFor() === 0) await this.#ask();
  }

  #ask(): Promise<void> {
    this.#asking ??= this.#look().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #look(): Promise<void> {
    const sentAt = performance.now();
    this.#askedAt = sentAt;
    try {
      const reply = await this.#link.request(`$JS.API.STREAM.INFO.${this.#stream}`, "", { timeout: requestTimeout });
      const { ts } = reply.json<{ ts?: string }>();
      const time = Date.parse(ts ?? "");
      if (!Number.isNaN(time)) this.#offset = time - (sentAt + performance.now()) / 2;
    } catch {
      // What was known before is still good.
    }
  }
}
