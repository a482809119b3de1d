import { expect, test } from "vitest";

import { actOnMany, type ManyProgress } from "../../../../runtime/console/pages/calls/many/act-on-many.ts";

const ids = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

test("each is done once, at most so many at a time, and those that are refused say why", async () => {
  const seen: number[] = [];
  let running = 0;
  let most = 0;
  const heard: ManyProgress<number>[] = [];
  const last = await actOnMany(ids(20), {
    parallel: 3,
    signal: new AbortController().signal,
    heard: (progress) => heard.push(progress),
    act: async (id) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      seen.push(id);
      running -= 1;
      if (id % 5 === 0) throw new Error(`Cannot cancel call "${id}": it is done`);
    },
  });
  expect(seen.toSorted((a, b) => a - b)).toEqual(ids(20));
  expect(most).toBe(3);
  expect(last).toMatchObject({ total: 20, done: 16, isOver: true });
  expect(last.refused.map(({ item }) => item).toSorted((a, b) => a - b)).toEqual([0, 5, 10, 15]);
  expect(last.refused[0]?.sentence).toBe('Cannot cancel call "0": it is done');
  expect(heard).toHaveLength(21);
  expect(heard.map(({ done, refused }) => done + refused.length)).toEqual([...ids(21).slice(1), 20]);
});

test("after a stop nothing is begun, and what waited for its turn is no refusal", async () => {
  const stop = new AbortController();
  const begun: number[] = [];
  const last = await actOnMany(ids(10), {
    parallel: 1,
    signal: stop.signal,
    heard: () => {},
    act: async (id) => {
      begun.push(id);
      if (id !== 2) return;
      stop.abort();
      throw stop.signal.reason;
    },
  });
  expect(begun).toEqual([0, 1, 2]);
  expect(last).toEqual({ total: 10, done: 2, refused: [], isOver: true });
});

test("of none, nothing is done", async () => {
  expect(await actOnMany([], { act: async () => {}, heard: () => {}, signal: new AbortController().signal })).toEqual({
    total: 0,
    done: 0,
    refused: [],
    isOver: true,
  });
});
