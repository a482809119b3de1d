import { expect, test } from "vitest";

import { DetachedCalls, type Slot } from "../../../../runtime/queue-worker/calls/detached-calls.ts";

/** A call in a slot: its slot, whether that is free again, and a function that ends the call. */
function enter(detached: DetachedCalls) {
  const over = Promise.withResolvers<void>();
  const entered: { slot?: Slot; free: boolean } = { free: false };
  const freed = detached
    .inSlot((slot) => {
      entered.slot = slot;
      return over.promise;
    })
    .then(() => (entered.free = true));
  return {
    leave: () => entered.slot?.leave(),
    stopped: () => entered.slot?.stop.aborted,
    isFree: () => entered.free,
    freed,
    end: over.resolve,
  };
}

test("a slot is free when its call has ended, or left it and continues outside", async () => {
  const detached = new DetachedCalls(2);
  const stays = enter(detached);
  const leaves = enter(detached);
  expect([leaves.leave(), leaves.leave()]).toEqual([true, true]);
  await leaves.freed;
  expect(stays.isFree()).toBe(false);
  let idle = false;
  const waited = detached.idle().then(() => (idle = true));
  await Promise.resolve();
  expect(idle).toBe(false);
  leaves.end();
  await waited;
  stays.end();
  await stays.freed;
});

test("a limited number of calls continue outside; the next keeps its slot until one of them ends", async () => {
  const detached = new DetachedCalls(2);
  const calls = [enter(detached), enter(detached), enter(detached)];
  expect(calls.map((call) => call.leave())).toEqual([true, true, false]);
  calls[0]?.end();
  // A call that ends makes room as soon as that is known.
  await calls[0]?.freed;
  while (calls[2]?.leave() === false) await Promise.resolve();
  await calls[2]?.freed;
  for (const call of calls) call.end();
  await detached.idle();
});

test("no call leaves its slot when the worker stops, and those outside are told to stop", async () => {
  const detached = new DetachedCalls(2);
  const [outside, inside] = [enter(detached), enter(detached)];
  outside.leave();
  expect(outside.stopped()).toBe(false);
  detached.stop();
  expect([outside.stopped(), outside.leave(), inside.leave()]).toEqual([true, true, false]);
  outside.end();
  inside.end();
  await detached.idle();
});

test("without room outside, as in a strict queue, no call leaves its slot", async () => {
  const only = enter(new DetachedCalls(0));
  expect(only.leave()).toBe(false);
  only.end();
  await only.freed;
});
