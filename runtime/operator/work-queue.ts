import type { Log } from "../process/log.ts";

/** What a queue works with; durations in milliseconds. */
export interface WorkQueueParts {
  /** Makes one object true; resolves with the time after which to do it again. */
  readonly work: (key: string) => Promise<number | undefined>;
  /** Objects at the same time. */
  readonly workers: number;
  /** Changes of one object that come within it are one. */
  readonly settle: number;
  readonly log: Log;
  readonly failed: () => void;
  /** From 0 to 1. */
  readonly random?: () => number;
}

interface Item {
  state: "waiting" | "queued" | "working";
  /** Added while it was worked on. */
  dirty: boolean;
  /** It is looked at because all are: what changed goes first. */
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
 * Works on objects by their keys: each once however often it was added, one at a time, several objects beside each other;
 * those that changed before those that are looked at because all are, which take minutes where there are thousands.
 * One that failed is tried again after 0.5, 1, 2, … 60 s, less a random quarter, whatever is added meanwhile.
 */
export class WorkQueue {
  readonly #parts: WorkQueueParts;
  readonly #items = new Map<string, Item>();
  readonly #changed: string[] = [];
  /** One that changes meanwhile is in `#changed`, too, and worked on by whichever comes first. */
  readonly #revisited: string[] = [];
  readonly #running = new Set<Promise<void>>();
  #closed = false;

  constructor(parts: WorkQueueParts) {
    this.#parts = parts;
  }

  /** Objects that wait or are worked on. */
  get size(): number {
    return this.#items.size;
  }

  /** It changed: has it worked on soon. */
  add(key: string): void {
    this.#add(key, false);
  }

  /** Has it worked on after all that changed. */
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
    // One that failed has its time already; one that settles keeps it, or changes without end would put it off.
    else if (item.state === "waiting" && item.failures === 0 && item.delay > this.#parts.settle)
      this.#later(key, item, this.#parts.settle);
  }

  /** Begins nothing more; resolves when what is under way has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { timer } of this.#items.values()) clearTimeout(timer);
    this.#changed.length = 0;
    this.#revisited.length = 0;
    await Promise.all(this.#running);
  }

  #later(key: string, item: Item, delay: number): void {
    clearTimeout(item.timer);
    item.state = "waiting";
    item.delay = delay;
    item.timer = setTimeout(() => {
      item.state = "queued";
      (item.revisited ? this.#revisited : this.#changed).push(key);
      this.#next();
    }, delay);
  }

  /** It has something to wait for: it goes before those that have not. */
  #soon(key: string, item: Item, delay: number): void {
    item.revisited = false;
    this.#later(key, item, delay);
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
    const { work, settle, log, failed, random = Math.random } = this.#parts;
    item.state = "working";
    item.dirty = false;
    item.revisited = true;
    try {
      const again = await work(key);
      if (item.failures > 0) log.info({ key }, "goes on");
      item.failures = 0;
      if (this.#closed) return;
      if (item.dirty) this.#later(key, item, settle);
      else if (again !== undefined) this.#soon(key, item, again);
      else this.#items.delete(key);
    } catch (err) {
      failed();
      if (item.failures === 0) log.warn({ err, key }, "reconcile failed, retrying");
      const delay = Math.min(firstRetry * 2 ** item.failures, longestRetry);
      item.failures += 1;
      if (!this.#closed) this.#soon(key, item, delay * (0.75 + 0.25 * random()));
    }
  }
}
