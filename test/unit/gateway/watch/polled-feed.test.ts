import { beforeEach, expect, test, vi } from "vitest";

import { PlatformError } from "../../../../runtime/api/platform-error.ts";
import { eventText } from "../../../../runtime/core/watch/event-text.ts";
import { PolledFeed, type PolledTopic } from "../../../../runtime/gateway/watch/feeds/polled-feed.ts";
import { WatchReader } from "../../../../runtime/gateway/watch/watch-reader.ts";
import { createLog } from "../../../../runtime/process/log.ts";
import { ManualWatchClock } from "../../../support/watch/manual-watch-clock.ts";
import { MemorySink } from "../../../support/watch/memory-sink.ts";

/** A count that changes when a test says so. */
class Counted implements PolledTopic {
  count = 0;
  looks = 0;
  failure: Error | undefined;
  #told = -1;
  gate: Promise<void> = Promise.resolve();

  async poll(): Promise<string | undefined> {
    this.looks += 1;
    await this.gate;
    if (this.failure !== undefined) throw this.failure;
    if (this.count === this.#told) return undefined;
    this.#told = this.count;
    return this.#event(false);
  }

  begin(): string {
    return this.#event(true);
  }

  #event(begin: boolean): string {
    return eventText("queues", { on: "queues", begin, queues: [], removed: [String(this.#told)] });
  }
}

let clock: ManualWatchClock;
let topic: Counted;
let feed: PolledFeed;
const silent = createLog("test", "silent");

beforeEach(() => {
  clock = new ManualWatchClock();
  topic = new Counted();
  feed = new PolledFeed({ on: "queues", topic, every: 1_000, now: () => clock.now(), log: silent });
});

function join(): { readonly sink: MemorySink; readonly reader: WatchReader; told(): unknown[] } {
  const sink = new MemorySink();
  const reader = new WatchReader(sink, () => clock.now());
  feed.join(reader);
  return {
    sink,
    reader,
    told: () =>
      sink.take().map(({ name, data }) => {
        const event = data as { readonly begin?: boolean; readonly removed?: string[]; readonly code?: string };
        return name === "fault" ? event.code : `${event.begin === true ? "begin" : "change"} ${event.removed?.[0]}`;
      }),
  };
}

/** One second later, with its look done. */
async function second(): Promise<void> {
  clock.advance(1_000);
  feed.tick(clock.now());
  await settled();
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

test("a reader begins with the whole, then hears of changes; one look is for all", async () => {
  const one = join();
  await settled();
  expect(one.told()).toEqual(["begin 0"]);
  const two = join();
  expect([two.told(), topic.looks]).toEqual([["begin 0"], 1]);
  await second();
  topic.count = 5;
  await second();
  expect([one.told(), two.told(), topic.looks]).toEqual([["change 5"], ["change 5"], 3]);
  feed.leave(two.reader);
  topic.count = 6;
  await second();
  expect([one.told(), two.told(), feed.isIdle]).toEqual([["change 6"], [], false]);
  feed.leave(one.reader);
  expect(feed.isIdle).toBe(true);
});

test("one that comes during the first look waits for it", async () => {
  let open = (): void => {};
  topic.gate = new Promise((resolve) => (open = resolve));
  const one = join();
  const two = join();
  feed.tick(clock.now());
  open();
  await settled();
  expect([one.told(), two.told(), topic.looks]).toEqual([["begin 0"], ["begin 0"], 1]);
});

test("what cannot be seen is said once, also to who comes later, and then it begins again", async () => {
  topic.failure = new PlatformError("history_unavailable", "Cannot list calls: the history does not reply");
  const one = join();
  await settled();
  await second();
  const two = join();
  await second();
  expect([one.told(), two.told()]).toEqual([["history_unavailable"], ["history_unavailable"]]);
  topic.failure = new PlatformError("history_off", "Cannot list calls: there is no history");
  await second();
  topic.failure = undefined;
  await second();
  expect(one.told()).toEqual(["history_off", "begin 0"]);
});

test("a defect is no news to readers but that it is one, and is logged", async () => {
  const log = createLog("test", "silent");
  const logged = vi.spyOn(log, "error");
  feed = new PolledFeed({ on: "queues", topic, every: 1_000, now: () => clock.now(), log });
  topic.failure = new TypeError("secret detail");
  const one = join();
  await settled();
  const [event] = one.sink.take();
  expect(event).toEqual({
    name: "fault",
    data: { on: "queues", code: "internal_error", detail: "Cannot show this: the gateway failed" },
  });
  expect(logged).toHaveBeenCalledWith({ err: topic.failure, topic: "queues" }, "a watched topic failed");
});

test("looks that take long are rarer, so that they take a tenth of the time, but not very rare", async () => {
  join();
  await settled();
  let open = (): void => {};
  topic.gate = new Promise((resolve) => (open = resolve));
  await second();
  clock.advance(200);
  open();
  await settled();
  const { looks } = topic;
  clock.advance(1_799);
  feed.tick(clock.now());
  expect(topic.looks).toBe(looks);
  clock.advance(1);
  feed.tick(clock.now());
  await settled();
  expect(topic.looks).toBe(looks + 1);
  topic.gate = new Promise((resolve) => (open = resolve));
  await second();
  clock.advance(1_500);
  open();
  await settled();
  clock.advance(1_500);
  feed.tick(clock.now());
  expect(topic.looks).toBe(looks + 3);
});
