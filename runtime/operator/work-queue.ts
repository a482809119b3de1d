import type { Log } from "../process/log.ts";

/** What a queue works with; durations in milliseconds. */
export interface WorkQueueParts {
  /** Reconciles one object; resolves with the time after which to do so again, undefined for never. */
  readonly work: (key: string) => Promise<number | undefined>;
  /** Objects reconciled at the same time. */
  readonly workers: number;
  /** Changes of one object within this time are reconciled together. */
  readonly debounce: number;
  readonly log: Log;
  readonly failed: () => void;
  /** From 0 to 1. */
  readonly random?: () => number;
}

interface Item {
  state: "waiting" | "queued" | "working";
  /** Added again while it is being reconciled. */
  dirty: boolean;
  /** Added only by a resync of all objects: changed objects go first. */
  revisited: boolean;
  failures: number;
  /** Of its timer. */
  delay: number;
  timer: NodeJS.Timeout | undefined;
}

const unknown: Item = {
  state: "waiting",
  dirty: false,
  revisited: true,
  failures: 0,
  delay: Number.POSITIVE_INFINITY,
  timer: undefined,
};
const firstRetry = 500;
const longestRetry = 60_000;

/**
 * Reconciles objects by key: each key once however often it was added and never twice at a time, several keys in
 * parallel. Changed objects go before those of a resync, which takes minutes where there are thousands. A failed one is
 * retried after 0.5, 1, 2, … 60 s, less up to a quarter at random, whatever is added meanwhile.
 */
export class WorkQueue {
  readonly #parts: WorkQueueParts;
  readonly #items = new Map<string, Item>();
  readonly #changed: string[] = [];
  /** A key that changes meanwhile is in `#changed`, too; the first of the two entries counts. */
  readonly #revisited: string[] = [];
  readonly #running = new Set<Promise<void>>();
  #closed = false;

  constructor(parts: WorkQueueParts) {
    this.#parts = parts;
  }

  /** Objects that wait or are being reconciled. */
  get size(): number {
    return this.#items.size;
  }

  /** Queues an object that changed. */
  add(key: string): void {
    this.#add(key, false);
  }

  /** Queues an object behind all that changed. */
  revisit(key: string): void {
    this.#add(key, true);
  }

  #add(key: string, revisited: boolean): void {
    if (this.#closed) return;
    const item: Item = this.#items.get(key) ?? { ...unknown };
    this.#items.set(key, item);
    const overtakes = item.state === "queued" && item.revisited && !revisited;
    item.revisited &&= revisited;
    if (overtakes) this.#changed.push(key);
    else if (item.state === "working") item.dirty = true;
    // A failed object keeps its retry time. A settling one keeps its timer, or endless changes would postpone it.
    else if (item.state === "waiting" && item.failures === 0 && item.delay > this.#parts.debounce)
      this.#schedule(key, item, this.#parts.debounce);
  }

  /** Starts nothing more; resolves when what is in flight has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { timer } of this.#items.values()) clearTimeout(timer);
    this.#changed.length = 0;
    this.#revisited.length = 0;
    await Promise.all(this.#running);
  }

  #schedule(key: string, item: Item, delay: number): void {
    clearTimeout(item.timer);
    item.state = "waiting";
    item.delay = delay;
    item.timer = setTimeout(() => {
      item.state = "queued";
      (item.revisited ? this.#revisited : this.#changed).push(key);
      this.#next();
    }, delay);
  }

  /** Schedules an object with work left, which goes before those of a resync. */
  #scheduleFirst(key: string, item: Item, delay: number): void {
    item.revisited = false;
    this.#schedule(key, item, delay);
  }

  #next(): void {
    while (!this.#closed && this.#running.size < this.#parts.workers) {
      const key = this.#changed.shift() ?? this.#revisited.shift();
      if (key === undefined) return;
      const item = this.#items.get(key);
      if (item?.state !== "queued") continue;
      const running = this.#work(key, item).finally(() => {
        this.#running.delete(running);
        this.#next();
      });
      this.#running.add(running);
    }
  }

  async #work(key: string, item: Item): Promise<void> {
    const { work, debounce: settle, log, failed, random = Math.random } = this.#parts;
    item.state = "working";
    item.dirty = false;
    item.revisited = true;
    try {
      const again = await work(key);
      if (item.failures > 0) log.info({ key }, "reconcile recovered");
      item.failures = 0;
      if (this.#closed) return;
      if (item.dirty) this.#schedule(key, item, settle);
      else if (again !== undefined) this.#scheduleFirst(key, item, again);
      else this.#items.delete(key);
    } catch (err) {
      failed();
      if (item.failures === 0) log.warn({ err, key }, "reconcile failed, retrying");
      const delay = Math.min(firstRetry * 2 ** item.failures, longestRetry);
      item.failures += 1;
      if (!this.#closed) this.#scheduleFirst(key, item, delay * (0.75 + 0.25 * random()));
    }
  }
}
