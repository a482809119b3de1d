import { recordStream } from "./call-record-reader.ts";
import { requestTimeout, type NatsLink } from "../link/nats-link.ts";
import { shareKey, storeKey } from "../streams.ts";

const freshFor = 1_000;
/** Share of all that the broker may store from which on no call is accepted: what is there must be able to end. */
const storeLimit = 0.9;

interface StreamInfoReply {
  readonly config?: { readonly max_msgs?: number; readonly metadata?: Readonly<Record<string, string>> };
  readonly state?: { readonly messages?: number; readonly bytes?: number };
}

/**
 * How much room there is for records of calls: asked for at most once a second and only while somebody wants to know; what
 * this process adds in between is counted on top.
 */
export class RecordRoom {
  readonly #link: NatsLink;
  readonly #asksStore: boolean;
  #messages = 0;
  #bytes = 0;
  #most = Number.POSITIVE_INFINITY;
  #share = Number.POSITIVE_INFINITY;
  #store = Number.POSITIVE_INFINITY;
  #stored = 0;
  #askedAt = Number.NEGATIVE_INFINITY;

  /** `asksStore`: also how much the broker stores in all, which only gateways may ask. */
  constructor(link: NatsLink, asksStore: boolean) {
    this.#link = link;
    this.#asksStore = asksStore;
  }

  /** The fuller of records ÷ most records and their bytes ÷ their share of the store; 0 while unknown. */
  fill(): number {
    this.#look();
    return Math.max(this.#messages / this.#most, this.#bytes / this.#share);
  }

  /** Whether the store as a whole has room for more calls. */
  get storeIsFull(): boolean {
    this.#look();
    return this.#stored >= storeLimit * this.#store;
  }

  /** A record of so many bytes was made. */
  added(bytes: number): void {
    this.#messages += 1;
    this.#bytes += bytes;
  }

  #look(): void {
    const now = performance.now();
    if (now - this.#askedAt <= freshFor) return;
    this.#askedAt = now;
    void this.#ask();
  }

  async #ask(): Promise<void> {
    try {
      const [records, account] = await Promise.all([
        this.#request<StreamInfoReply>(`STREAM.INFO.${recordStream}`),
        this.#asksStore ? this.#request<{ readonly storage?: number }>("INFO") : undefined,
      ]);
      const { config, state } = records;
      this.#messages = state?.messages ?? 0;
      this.#bytes = state?.bytes ?? 0;
      this.#most = limit(config?.max_msgs);
      this.#share = limit(Number(config?.metadata?.[shareKey]));
      this.#store = limit(Number(config?.metadata?.[storeKey]));
      this.#stored = account?.storage ?? 0;
    } catch {
      // An old figure is good enough: the broker itself refuses what it has no room for.
    }
  }

  async #request<T>(name: string): Promise<T> {
    const reply = await this.#link.request(`$JS.API.${name}`, "", { timeout: requestTimeout });
    return reply.json<T>();
  }
}

function limit(value: number | undefined): number {
  return value === undefined || Number.isNaN(value) || value <= 0 ? Number.POSITIVE_INFINITY : value;
}
