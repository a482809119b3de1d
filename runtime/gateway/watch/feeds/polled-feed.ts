import type { Log } from "../../../process/log.ts";
import type { WatchReader } from "../watch-reader.ts";
import { faultEvent } from "./fault-event.ts";
import type { WatchFeed } from "./watch-feed.ts";

/** Something that is looked at again and again. */
export interface PolledTopic {
  /**
   * Looks; resolves with the event that tells what changed since the last look, undefined if nothing did.
   * @throws PlatformError when it cannot be seen now
   */
  poll(): Promise<string | undefined>;
  /** The event that a reader begins with, as of the last look. */
  begin(): string;
  /** Milliseconds until the next look, beside those of all topics; absent: none. */
  readonly pace?: number;
}

export interface PolledFeedOptions {
  /** As the request names the topic. */
  readonly on: string;
  readonly topic: PolledTopic;
  /** Milliseconds between two looks. */
  readonly every: number;
  readonly now: () => number;
  readonly log: Log;
}

/** Looks take this share of the time, so that a slow store is not asked all the time. */
const share = 0.1;
/** Longest pause because of that, milliseconds: the first look at a store may be slow for once. */
const longestPause = 3_000;

/** A topic that is looked at once for all its readers. */
export class PolledFeed implements WatchFeed {
  readonly #options: PolledFeedOptions;
  readonly #readers = new Set<WatchReader>();
  /** Those that were not told the whole yet. */
  readonly #newcomers = new Set<WatchReader>();
  #isPolling = false;
  #nextAt = Number.NEGATIVE_INFINITY;
  /** Why it could not be seen at the last look. */
  #fault: string | undefined;
  #isKnown = false;

  constructor(options: PolledFeedOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#readers.size === 0;
  }

  join(reader: WatchReader): void {
    this.#readers.add(reader);
    if (this.#isKnown) return reader.send(this.#options.topic.begin());
    if (this.#fault !== undefined) return reader.send(this.#fault);
    this.#newcomers.add(reader);
    if (!this.#isPolling) void this.#poll();
  }

  leave(reader: WatchReader): void {
    this.#readers.delete(reader);
    this.#newcomers.delete(reader);
  }

  tick(now: number): void {
    if (!this.#isPolling && now >= this.#nextAt) void this.#poll();
  }

  async #poll(): Promise<void> {
    const { topic, every, now } = this.#options;
    this.#isPolling = true;
    const began = now();
    try {
      const change = await topic.poll();
      const wasKnown = this.#isKnown;
      this.#isKnown = true;
      this.#fault = undefined;
      for (const reader of this.#readers) {
        if (!wasKnown || this.#newcomers.has(reader)) reader.send(topic.begin());
        else if (change !== undefined) reader.send(change);
      }
    } catch (err) {
      this.#tellFault(err);
    }
    this.#newcomers.clear();
    this.#isPolling = false;
    const pause = Math.min((now() - began) / share, longestPause);
    this.#nextAt = began + Math.max(every, topic.pace ?? 0, pause);
  }

  #tellFault(err: unknown): void {
    const { on, log } = this.#options;
    const fault = faultEvent(on, err, { log, defect: "Cannot show this: the gateway failed" });
    for (const reader of this.#readers) if (fault !== this.#fault || this.#newcomers.has(reader)) reader.send(fault);
    this.#fault = fault;
    this.#isKnown = false;
  }
}
