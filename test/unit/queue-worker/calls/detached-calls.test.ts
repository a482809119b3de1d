import { expect, test } from "vitest";

import { DetachedCalls, type Slot } from "../../../../runtime/queue-worker/calls/detached-calls.ts";

/** A call in a slot: the slot, whether that is free again, and what ends the call. */
function enter(aside: DetachedCalls) {
  const over = Promise.withResolvers<void>();
  const entered: { slot?: Slot; free: boolean } = { free: false };
  const freed = aside
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

test("a slot is free when its call is over, or has left it; then the call goes on outside", async () => {
  const aside = new DetachedCalls(2);
  const stays = enter(aside);
  const leaves = enter(aside);
  expect([leaves.leave(), leaves.leave()]).toEqual([true, true]);
  await leaves.freed;
  expect(stays.isFree()).toBe(false);
  let idle = false;
  const waited = aside.idle().then(() => (idle = true));
  await Promise.resolve();
  expect(idle).toBe(false);
  leaves.end();
  await waited;
  stays.end();
  await stays.freed;
});

test("as many go on outside as there is room for; the next keeps its slot until one of them is over", async () => {
  const aside = new DetachedCalls(2);
  const calls = [enter(aside), enter(aside), enter(aside)];
  expect(calls.map((call) => call.leave())).toEqual([true, true, false]);
  calls[0]?.end();
  // One that is over makes room as soon as that is known.
  await calls[0]?.freed;
  while (calls[2]?.leave() === false) await Promise.resolve();
  await calls[2]?.freed;
  for (const call of calls) call.end();
  await aside.idle();
});

test("none leaves a worker that stops, and those outside hear of it", async () => {
  const aside = new DetachedCalls(2);
  const [outside, inside] = [enter(aside), enter(aside)];
  outside.leave();
  expect(outside.stopped()).toBe(false);
  aside.stop();
  expect([outside.stopped(), outside.leave(), inside.leave()]).toEqual([true, true, false]);
  outside.end();
  inside.end();
  await aside.idle();
});

test("without room outside, as in a strict queue, nothing leaves", async () => {
  const only = enter(new DetachedCalls(0));
  expect(only.leave()).toBe(false);
  only.end();
  await only.freed;
});
