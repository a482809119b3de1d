import { expect, test } from "vitest";

import { DeferredWrites } from "../../../../runtime/queue-worker/callbacks/deferred-writes.ts";

/** Uses a clock that each pause advances; `tried` lists what was tried, and when. */
function open(retryFor: number) {
  const stop = new AbortController();
  let now = 0;
  const tried: string[] = [];
  const rounds = Promise.withResolvers<void>();
  const pause = async (milliseconds: number): Promise<void> => {
    now += milliseconds;
    if (now > 100_000) stop.abort();
    await Promise.resolve();
  };
  const writes = new DeferredWrites({ retryFor, stop: stop.signal, now: () => now, pause });
  const add = (name: string, nth: number, then = (): void => {}): void => {
    let tries = 0;
    writes.add(async () => {
      tried.push(`${name} at ${now / 1_000} s`);
      tries += 1;
      if (tries >= nth) then();
      return tries >= nth;
    });
  };
  return { writes, add, tried, stop, over: rounds.promise, end: rounds.resolve };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
}

test("writes are tried in turn until they succeed, and one that fails does not block the others", async () => {
  const { add, tried, over, end } = open(60_000);
  add("hard", 3, end);
  add("easy", 1);
  await over;
  expect(tried).toEqual(["hard at 2 s", "easy at 4 s", "hard at 4 s", "hard at 6 s"]);
});

test("a write is given up after its time", async () => {
  const { add, tried } = open(10_000);
  add("never", Number.POSITIVE_INFINITY);
  await turns(1_000);
  expect(tried).toEqual(["never at 2 s", "never at 4 s", "never at 6 s", "never at 8 s"]);
});

test("nothing is tried after the stop", async () => {
  const { add, tried, stop } = open(60_000);
  add("never", Number.POSITIVE_INFINITY);
  stop.abort();
  await turns(1_000);
  expect(tried).toEqual([]);
});

test("the write in progress counts towards the limit", async () => {
  const { writes } = open(60_000);
  const writing = Promise.withResolvers<boolean>();
  const begun = Promise.withResolvers<void>();
  let written = 0;
  writes.add(() => {
    begun.resolve();
    return writing.promise;
  });
  await begun.promise;
  for (let n = 0; n < 10_000; n += 1) writes.add(async () => (written += 1) > 0);
  writing.resolve(true);
  await turns(100_000);
  expect(written).toBe(9_999);
});

test("no more than ten thousand writes are kept", async () => {
  const { writes, tried, add, over, end } = open(60_000);
  let written = 0;
  for (let n = 0; n < 9_999; n += 1) writes.add(async () => (written += 1) > 0);
  add("last", 1, end);
  add("too many", 1);
  await over;
  expect([written, tried]).toEqual([9_999, ["last at 2 s"]]);
});
