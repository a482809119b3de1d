import { recordStream } from "./call-record-reader.ts";
import { requestTimeout, type NatsLink } from "../link/nats-link.ts";
import { shareKey, storeKey } from "../streams.ts";

const freshFor = 1_000;
/** Share of the broker's store from which on no call is accepted, so that existing calls can end. */
const storeLimit = 0.9;

interface StreamInfoReply {
  readonly config?: { readonly max_msgs?: number; readonly metadata?: Readonly<Record<string, string>> };
  readonly state?: { readonly messages?: number; readonly bytes?: number };
}

/**
 * How much room there is for call records. The broker is asked at most once a second, and only on demand; records that
 * this process adds in between are counted on top.
 */
export class RecordRoom {
  readonly #link: NatsLink;
  readonly #asksStore: boolean;
  #messages = 0;
  #bytes = 0;
  #maxMessages = Number.POSITIVE_INFINITY;
  #share = Number.POSITIVE_INFINITY;
  #store = Number.POSITIVE_INFINITY;
  #stored = 0;
  #askedAt = Number.NEGATIVE_INFINITY;

  /** `asksStore`: also ask how much the broker stores in total, which only gateways may. */
  constructor(link: NatsLink, asksStore: boolean) {
    this.#link = link;
    this.#asksStore = asksStore;
  }

  /** The larger of records ÷ most records and their bytes ÷ their share of the store; 0 while unknown. */
  fill(): number {
    this.#refreshIfStale();
    return Math.max(this.#messages / this.#maxMessages, this.#bytes / this.#share);
  }

  /** Whether the store as a whole has no room for more calls. */
  get storeIsFull(): boolean {
    this.#refreshIfStale();
    return this.#stored >= storeLimit * this.#store;
  }

  /** Counts a record of this many bytes that was just created. */
  added(bytes: number): void {
    this.#messages += 1;
    this.#bytes += bytes;
  }

  #refreshIfStale(): void {
    const now = performance.now();
    if (now - this.#askedAt <= freshFor) return;
    this.#askedAt = now;
    void this.#refresh();
  }

  async #refresh(): Promise<void> {
    try {
      const [records, account] = await Promise.all([
        this.#request<StreamInfoReply>(`STREAM.INFO.${recordStream}`),
        this.#asksStore ? this.#request<{ readonly storage?: number }>("INFO") : undefined,
      ]);
      const { config, state } = records;
      this.#messages = state?.messages ?? 0;
      this.#bytes = state?.bytes ?? 0;
      this.#maxMessages = limit(config?.max_msgs);
      this.#share = limit(Number(config?.metadata?.[shareKey]));
      this.#store = limit(Number(config?.metadata?.[storeKey]));
      this.#stored = account?.storage ?? 0;
    } catch {
      // A stale figure is good enough: the broker itself refuses what it has no room for.
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
