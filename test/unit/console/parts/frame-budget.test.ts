import { expect, test } from "vitest";

import { FrameBudget } from "../../../../runtime/console/parts/tables/frame-budget.ts";

/** A budget of three, whose frames and time the test makes. */
function openBudget() {
  const asked = new Map<number, (begun: number) => void>();
  let [now, handles, turns] = [0, 0, 0];
  const budget = new FrameBudget({
    most: 3,
    onFrame: () => turns++,
    frames: {
      request: (callback) => {
        asked.set(++handles, callback);
        return handles;
      },
      cancel: (handle) => void asked.delete(handle),
    },
    now: () => now,
  });
  return {
    budget,
    asked,
    turns: () => turns,
    pass: (milliseconds: number) => (now += milliseconds),
    /** Makes a frame that began now, or some time ago. */
    frame: (ago = 0) => {
      const due = [...asked.values()];
      asked.clear();
      for (const callback of due) callback(now - ago);
    },
  };
}

test("what waits goes on in the next frame, with as much as fits again", () => {
  const { budget, frame, pass, turns } = openBudget();
  budget.use(3, true);
  expect(budget.left).toBe(0);

  pass(16);
  frame();

  expect([turns(), budget.left]).toEqual([1, 3]);
});

test("nothing is asked for while nothing was done and nothing waits", () => {
  const { budget, asked, frame, pass, turns } = openBudget();
  budget.use(0);
  expect(asked.size).toBe(0);
  budget.use(2);
  budget.use(0);
  expect(asked.size).toBe(1);

  pass(16);
  frame();

  expect([turns(), budget.left, asked.size]).toEqual([0, 3, 0]);
});

test("what was postponed has nothing until the next frame", () => {
  const { budget, frame, pass } = openBudget();
  budget.postpone();
  expect(budget.left).toBe(0);

  pass(1);
  frame();

  expect(budget.left).toBe(3);
});

test("a frame whose scroll did its work already is not used a second time", () => {
  const { budget, frame, pass, turns } = openBudget();
  pass(100);
  budget.use(3, true);
  pass(1);
  // It began before the scroll was heard of.
  frame(2);
  expect([turns(), budget.left]).toEqual([0, 0]);

  pass(16);
  frame();
  expect([turns(), budget.left]).toEqual([1, 3]);
});

test("a list that is gone asks for no frame", () => {
  const { budget, asked } = openBudget();
  budget.use(1, true);

  budget.stop();

  expect(asked.size).toBe(0);
});
