import { setTimeout as pause } from "node:timers/promises";

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { RecordedCalls, untilLed } from "../support/recorded-calls.ts";
import { say } from "../support/say.ts";

let recorded: RecordedCalls;

beforeAll(async () => {
  recorded = await RecordedCalls.open();
});
afterAll(() => recorded?.close());
beforeEach(() => recorded.begin());
afterEach(async () => {
  expect(await recorded.end()).toEqual([]);
});

describe("the history process", () => {
  test("killed 4 times at any point of a batch, it has the rows of the records", async () => {
    const history = await recorded.start();
    const stop = new AbortController();
    const load = recorded.records.load(200, stop.signal);
    for (let kill = 0; kill < 4; kill += 1) {
      // At another point of its work each time: right after its start, within a batch, between two.
      await pause(110 * kill);
      await history.process.kill();
      await history.process.start();
    }
    stop.abort();
    await load;
    await recorded.untilEqual(history);
    expect(recorded.records.calls.size).toBeGreaterThan(100);
    expect(await history.reads.progress()).toMatchObject({ gaps: [] });
  });

  test("stopped for a while, and with the broker killed, it has the rows of the records", async () => {
    const history = await recorded.start();
    await untilLed(history);
    const stop = new AbortController();
    const load = recorded.records.load(100, stop.signal);
    for (let round = 0; round < 2; round += 1) {
      history.process.pause();
      // Longer than its lease.
      await pause(2_500);
      history.process.resume();
      await recorded.server.kill();
      await recorded.server.restart();
    }
    stop.abort();
    await load;
    await recorded.untilEqual(history);
  });

  test("lags while the broker is away, which its metric and the gateway see, and not after", async () => {
    const history = await recorded.start();
    await recorded.records.write("done");
    await recorded.untilEqual(history);
    await recorded.server.stop();
    await eventually(async () => ((await history.metric("history_lag_seconds")) ?? 0) > 1, { what: "a lag" });
    expect((await history.reads.progress()).lagSeconds).toBeGreaterThan(1);
    await recorded.server.restart();
    await eventually(async () => (await history.metric("history_lag_seconds")) === 0, { what: "no lag" });
  });

  test("has a row soon after its record while others are written as fast as they can", async () => {
    const history = await recorded.start();
    await untilLed(history);
    const stop = new AbortController();
    const load = recorded.records.load(2_000, stop.signal);
    let longest = 0;
    for (let look = 0; look < 20; look += 1) {
      const id = await recorded.records.write("done");
      const written = performance.now();
      await eventually(async () => (await history.reads.get(id)) !== undefined, { every: 10, what: "its row" });
      longest = Math.max(longest, performance.now() - written);
    }
    stop.abort();
    await load;
    say(`H3: a row at most ${Math.round(longest)} ms after its record, at up to 2 000 calls/s`);
    expect(recorded.records.calls.size).toBeGreaterThan(100);
  });
});
