import { requestTimeout, type NatsLink } from "./nats-link.ts";

const freshFor = 1_000;

/** How full a stream is, asked for at most once a second and only while somebody wants to know. */
export class StreamFill {
  readonly #link: NatsLink;
  readonly #stream: string;
  #share = 0;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(link: NatsLink, stream: string) {
    this.#link = link;
    this.#stream = stream;
  }

  /** Messages there ÷ most messages, as last heard; 0 while unknown or unbounded. */
  share(): number {
    const now = performance.now();
    if (now - this.#askedAt > freshFor) {
      this.#askedAt = now;
      void this.#ask();
    }
    return this.#share;
  }

  async #ask(): Promise<void> {
    try {
      const reply = await this.#link.request(`$JS.API.STREAM.INFO.${this.#stream}`, "", { timeout: requestTimeout });
      const info = reply.json<{ config?: { max_msgs?: number }; state?: { messages?: number } }>();
      const most = info.config?.max_msgs ?? 0;
      if (most > 0) this.#share = (info.state?.messages ?? 0) / most;
    } catch {
      // An old figure is good enough: it only shortens times to live.
    }
  }
}
