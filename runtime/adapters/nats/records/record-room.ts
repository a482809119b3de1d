import { storeLimit } from "../../../core/queues/store-limits.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { readStoreFigures } from "./store-figures.ts";

const freshFor = 1_000;

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
      const figures = await readStoreFigures(this.#link, this.#asksStore);
      this.#messages = figures.records;
      this.#bytes = figures.recordBytes;
      this.#maxMessages = figures.maxRecords;
      this.#share = figures.recordShare;
      this.#store = figures.store;
      this.#stored = figures.stored;
    } catch {
      // A stale figure is good enough: the broker itself refuses what it has no room for.
    }
  }
}
