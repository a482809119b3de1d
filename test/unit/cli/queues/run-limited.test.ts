import { expect, test } from "vitest";

import { runLimited } from "../../../../runtime/cli/client/run-limited.ts";
import { eventually } from "../../../support/eventually.ts";

/** Acts that end when the test says so. */
function heldActs() {
  const open = new Map<number, (err?: Error) => void>();
  const begun: number[] = [];
  return {
    begun,
    act: (item: number): Promise<void> => {
      begun.push(item);
      return new Promise((resolve, reject) => open.set(item, (err) => (err === undefined ? resolve() : reject(err))));
    },
    end: async (item: number, err?: Error): Promise<void> => {
      (await eventually(() => open.get(item), { what: `item ${item} to begin` }))(err);
      await Promise.resolve();
    },
  };
}

const items = Array.from({ length: 20 }, (_, index) => index);

test("begins in order, and the next one only when one has ended", async () => {
  const { act, begun, end } = heldActs();
  const all = runLimited(items, 8, act);
  expect(begun).toEqual(items.slice(0, 8));
  await end(5);
  await eventually(() => begun.length === 9, { what: "the ninth" });
  expect(begun).toEqual(items.slice(0, 9));
  for (const item of items) if (item !== 5) await end(item);
  await all;
  expect(begun).toEqual(items);
});

test("after a failure it begins nothing more, and ends when the others have", async () => {
  const { act, begun, end } = heldActs();
  let over = false;
  const all = runLimited(items, 3, act).finally(() => (over = true));
  const failed = expect(all).rejects.toThrow("refused");
  await end(1, new Error("refused"));
  await end(0);
  expect(over).toBe(false);
  await end(2, new Error("a later one"));
  await failed;
  expect(begun).toEqual([0, 1, 2]);
});

test("of nothing it is over at once", async () => {
  await runLimited([], 8, () => Promise.reject(new Error("there is none")));
});
