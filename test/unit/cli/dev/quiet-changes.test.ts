import { expect, test } from "vitest";

import { QuietChanges, type Timer } from "../../../../runtime/cli/dev/watch/quiet-changes.ts";

/** A clock that a test moves. */
function testClock(): { readonly timer: Timer; readonly pass: (time: number) => void } {
  let now = 0;
  const timers = new Set<{ readonly at: number; readonly act: () => void }>();
  return {
    timer: (delay, act) => {
      const timer = { at: now + delay, act };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    pass: (time) => {
      now += time;
      for (const timer of timers) {
        if (timer.at > now) continue;
        timers.delete(timer);
        timer.act();
      }
    },
  };
}

function openChanges() {
  const { timer, pass } = testClock();
  const taken: string[][] = [];
  const changes = new QuietChanges<string>((each) => taken.push([...each]), timer);
  return { changes, taken, pass };
}

test("changes are handed over together, once, after 100 ms without one", () => {
  const { changes, pass, taken } = openChanges();
  changes.add("a");
  pass(99);
  changes.add("b");
  changes.add("a");
  pass(99);
  expect(taken).toEqual([]);
  pass(1);
  expect(taken).toEqual([["a", "b"]]);
  pass(1_000);
  expect(taken).toHaveLength(1);
});

test("a change after that is another one", () => {
  const { changes, pass, taken } = openChanges();
  changes.add("a");
  pass(100);
  changes.add("b");
  pass(100);
  expect(taken).toEqual([["a"], ["b"]]);
});

test("nothing is handed over after the end", () => {
  const { changes, pass, taken } = openChanges();
  changes.add("a");
  changes.close();
  pass(1_000);
  expect(taken).toEqual([]);
});
