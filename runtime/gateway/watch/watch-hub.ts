import { apiVersion, release } from "../../api/version.ts";
import { eventText } from "../../core/watch/event-text.ts";
import type { WatchTopic } from "../../core/watch/watch-topic.ts";
import { callDetailReader } from "../rest/routes/history/read-call-detail.ts";
import { faultEvent } from "./feeds/fault-event.ts";
import { FunctionsFeed } from "./feeds/functions-feed.ts";
import type { WatchFeed } from "./feeds/watch-feed.ts";
import { openFeed, type FeedParts } from "./open-feed.ts";
import { SharedRows, type WatchSources } from "./shared-rows.ts";
import type { StreamSender } from "./stream-sender.ts";
import { deniedTopic, requireOneTopic, seesWhole } from "./topic-access.ts";
import { processClock, type WatchClock } from "./watch-clock.ts";
import type { WatchStreams } from "./watch-streams.ts";
import { WatchReader, type EventSink } from "./watch-reader.ts";

export interface WatchHubParts extends Omit<FeedParts, "rows" | "readDetail" | "clock"> {
  readonly watched: WatchSources;
}

/** A stream, and what it is joined to. */
interface Member {
  readonly reader: WatchReader;
  readonly topics: readonly WatchTopic[];
  readonly sender: StreamSender;
  /** Keys of its feeds. */
  keys: readonly string[];
}

/** Milliseconds between two looks: at calls and logs at each of them, at everything else at one in four. */
const period = 250;
const inSecond = 4;

/** All streams of a process: whatever several of them show is computed once a second for all of them together. */
export class WatchHub implements WatchStreams {
  readonly #parts: FeedParts;
  readonly #rows: SharedRows;
  readonly #clock: WatchClock;
  readonly #feeds = new Map<string, WatchFeed>();
  readonly #members = new Set<Member>();
  #joined = 0;
  #looks = 0;
  #endTimer: (() => void) | undefined;
  #isClosed = false;

  constructor({ watched, ...parts }: WatchHubParts, clock: WatchClock = processClock) {
    this.#clock = clock;
    this.#rows = new SharedRows(watched, clock);
    this.#parts = { ...parts, rows: this.#rows, readDetail: callDetailReader(parts), clock };
  }

  /** Open streams. */
  get size(): number {
    return this.#members.size;
  }

  /** Monotonic milliseconds of its clock. */
  now(): number {
    return this.#clock.now();
  }

  /** Begins a stream of topics, with a fault for each that its sender may not read; it ends with `sink`, or before. */
  open(sink: EventSink, topics: readonly WatchTopic[], sender: StreamSender): WatchReader {
    const reader = new WatchReader(sink, () => this.#clock.now());
    reader.send(eventText("hello", { release, apiVersion, time: new Date().toISOString() }));
    if (this.#isClosed) {
      reader.bye("draining");
      return reader;
    }
    const member: Member = { reader, topics, sender, keys: [] };
    this.#members.add(member);
    sink.once("close", () => this.#leave(member));
    this.#endTimer ??= this.#clock.every(period, () => this.#tickOrLog());
    this.#join(member);
    return reader;
  }

  /** Ends all streams; whoever comes later is sent away. */
  close(): void {
    this.#isClosed = true;
    for (const member of this.#members) {
      member.reader.bye("draining");
      this.#leave(member);
    }
  }

  /** A defect must not end the process, and with it everything else. */
  #tickOrLog(): void {
    try {
      this.#tick();
    } catch (err) {
      this.#parts.log.error({ err }, "a look at what is watched failed");
    }
  }

  #tick(): void {
    for (const member of this.#members) if (member.reader.isOver) this.#leave(member);
    const now = this.#clock.now();
    for (const feed of this.#feeds.values()) feed.tick(now);
    this.#looks += 1;
    if (this.#looks % inSecond === 0) this.#tellRows();
    for (const member of this.#members) {
      member.reader.sendComment();
      if (member.sender.isDue) void this.#checkSender(member);
    }
  }

  #tellRows(): void {
    const changes = this.#rows.tick();
    if (changes === undefined) return;
    for (const feed of this.#feeds.values()) if (feed instanceof FunctionsFeed) feed.take(changes);
  }

  async #checkSender(member: Member): Promise<void> {
    const { reader, sender, topics } = member;
    const state = await sender.look();
    if (reader.isOver || !this.#members.has(member)) return;
    if (state === "same") return;
    if (state === "changed" && this.#mayRead(sender, topics)) {
      // What they are told depends on their rights.
      this.#leaveFeeds(member);
      this.#join(member);
      return;
    }
    reader.bye("session");
    this.#leave(member);
  }

  #mayRead({ principal }: StreamSender, topics: readonly WatchTopic[]): boolean {
    try {
      requireOneTopic(principal, topics, this.#parts.namespaces);
      return true;
    } catch {
      return false;
    }
  }

  #join(member: Member): void {
    const { reader, topics, sender } = member;
    const own = `#${(this.#joined += 1)}`;
    member.keys = topics.flatMap((topic) => {
      const denied = deniedTopic(sender.principal, topic, this.#parts.namespaces);
      if (denied !== undefined) {
        reader.send(faultEvent(topic.on, denied, { log: this.#parts.log, defect: denied.message }));
        return [];
      }
      const isShared = topic.kind !== "log" && seesWhole(sender.principal, topic);
      const key = isShared ? topic.on : topic.on + own;
      let feed = this.#feeds.get(key);
      if (feed === undefined) {
        const { principal } = sender;
        this.#feeds.set(key, (feed = openFeed(topic, () => principal, this.#parts)));
      }
      feed.join(reader);
      return key;
    });
  }

  #leaveFeeds({ keys, reader }: Member): void {
    for (const key of keys) {
      const feed = this.#feeds.get(key);
      feed?.leave(reader);
      if (feed?.isIdle === true) this.#feeds.delete(key);
    }
    if (![...this.#feeds.values()].some((feed) => feed instanceof FunctionsFeed)) this.#rows.end();
  }

  #leave(member: Member): void {
    if (!this.#members.delete(member)) return;
    this.#leaveFeeds(member);
    if (this.#members.size > 0) return;
    this.#endTimer?.();
    this.#endTimer = undefined;
  }
}
