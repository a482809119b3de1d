import { beforeEach, describe, expect, test } from "vitest";

import { eventText } from "../../../../runtime/core/watch/event-text.ts";
import { farthestBehind, WatchReader } from "../../../../runtime/gateway/watch/watch-reader.ts";
import { ManualWatchClock } from "../../../support/watch/manual-watch-clock.ts";
import { MemorySink } from "../../../support/watch/memory-sink.ts";

let clock: ManualWatchClock;
let sink: MemorySink;
let reader: WatchReader;

beforeEach(() => {
  clock = new ManualWatchClock();
  sink = new MemorySink();
  reader = new WatchReader(sink, () => clock.now());
});

const fault = (detail: string): string => eventText("fault", { on: "queues", code: "queue_unavailable", detail });

test("an event is one line of data, whatever is in it", () => {
  reader.send(fault("one\ntwo\r\nthree\u2028: x"));
  expect(sink.texts.join("").split("\n")).toHaveLength(4);
  expect(sink.take()).toEqual([
    {
      name: "fault",
      data: { on: "queues", code: "queue_unavailable", detail: "one\ntwo\r\nthree\u2028: x" },
    },
  ]);
});

test("a comment comes after 15 s without an event", () => {
  clock.advance(14_999);
  reader.sendComment();
  expect(sink.take()).toEqual([]);
  clock.advance(1);
  reader.sendComment();
  reader.sendComment();
  expect(sink.take()).toEqual([{ name: undefined, data: undefined }]);
  clock.advance(10_000);
  reader.send(fault("x"));
  sink.take();
  clock.advance(14_999);
  reader.sendComment();
  expect(sink.take()).toEqual([]);
});

test("who leaves more than 1 MiB unread is told goodbye, and nothing more", () => {
  sink.isRead = false;
  const event = fault("x".repeat(65_536 - fault("").length));
  for (let count = 0; count < farthestBehind / 65_536; count += 1) reader.send(event);
  expect(reader.isOver).toBe(false);
  reader.send(fault("x"));
  expect(reader.isOver).toBe(false);
  reader.send(fault("y"));
  expect([reader.isOver, sink.writableEnded]).toEqual([true, true]);
  reader.send(fault("more"));
  reader.sendComment();
  reader.bye("draining");
  expect(sink.take().at(-1)).toEqual({ name: "bye", data: { reason: "slow" } });
});

test("one event over 1 MiB makes nobody slow who reads", () => {
  reader.send(fault("x".repeat(2 * farthestBehind)));
  reader.send(fault("x"));
  expect([reader.isOver, sink.take().length]).toEqual([false, 2]);
});

test("nothing is sent to who has left", () => {
  sink.close();
  reader.send(fault("x"));
  reader.sendWhole([fault("y")].values());
  reader.bye("draining");
  expect([reader.isOver, sink.texts]).toEqual([true, []]);
  expect(sink.listenerCount("drain")).toBe(0);
});

describe("a whole", () => {
  const portion = fault("x".repeat(40_000));
  let asked: number;
  function* portions(count: number): Generator<string> {
    for (asked = 0; asked < count;) {
      asked += 1;
      yield portion;
    }
  }
  beforeEach(() => {
    asked = 0;
  });

  test("is sent at once to who reads it", () => {
    reader.sendWhole(portions(100));
    expect([asked, sink.texts.length]).toEqual([100, 100]);
  });

  test("is asked for no faster than it is read, so that nobody is slow because of it", () => {
    sink.isRead = false;
    reader.sendWhole(portions(100));
    expect(asked).toBe(2);
    sink.drain();
    expect(asked).toBe(4);
    expect(reader.isOver).toBe(false);
    for (let count = 0; count < 60; count += 1) sink.drain();
    expect([asked, sink.texts.length]).toEqual([100, 100]);
  });

  test("lets other events pass, and ends with its stream", () => {
    sink.isRead = false;
    reader.sendWhole(portions(100));
    reader.sendWhole([fault("second")].values());
    reader.send(fault("between"));
    expect(sink.takeOf("fault").map(({ detail }) => detail.length)).toEqual([40_000, 40_000, 7]);
    reader.bye("session");
    sink.drain();
    expect(asked).toBe(2);
    expect(sink.take().map(({ name }) => name)).toEqual(["bye"]);
  });
});
