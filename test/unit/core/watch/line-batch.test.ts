import { expect, test } from "vitest";

import { maxBatch, maxRecords, LineBatch } from "../../../../runtime/core/watch/line-batch.ts";

test("a batch takes 200 records a second, and counts the others", () => {
  const batch = new LineBatch<number>(0);
  for (let index = 0; index < maxRecords - 50; index += 1) batch.add(index, 1, 10);
  expect(batch.take()).toMatchObject({ records: { length: maxRecords - 50 }, skipped: 0 });
  for (let index = 0; index < 60; index += 1) batch.add(index, 1, 500);
  expect(batch.take()).toMatchObject({ records: { length: 50 }, skipped: 10 });
  expect(batch.take()).toEqual({ records: [], skipped: 0 });
  batch.add(1, 1, 1_000);
  expect(batch.take()).toEqual({ records: [1], skipped: 0 });
});

test("nor does an event have more than 200, whenever it is sent", () => {
  const batch = new LineBatch<number>(0);
  for (let index = 0; index < 150; index += 1) batch.add(index, 1, 0);
  for (let index = 0; index < 150; index += 1) batch.add(index, 1, 1_000);
  expect(batch.take()).toMatchObject({ records: { length: maxRecords }, skipped: 100 });
});

test("nor more than 128 Ki characters at once, but for a record that is longer itself", () => {
  const batch = new LineBatch<string>(0);
  batch.add("a", maxBatch - 1, 0);
  batch.add("b", 1, 0);
  batch.add("c", 1, 0);
  expect(batch.take()).toEqual({ records: ["a", "b"], skipped: 1 });
  batch.add("d", 2 * maxBatch, 0);
  batch.add("e", 1, 0);
  expect(batch.take()).toEqual({ records: ["d"], skipped: 1 });
});

test("a second begins with the first record after the one before", () => {
  const batch = new LineBatch<number>(5_000);
  const count = (now: number): number => {
    for (let index = 0; index <= maxRecords; index += 1) batch.add(index, 1, now);
    return batch.take().records.length;
  };
  expect([count(5_999), count(5_999), count(6_000), count(6_999), count(7_000)]).toEqual([200, 0, 200, 0, 200]);
});
