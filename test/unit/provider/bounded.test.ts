import { expect, test } from "vitest";

import { Bounded } from "../../../runtime/provider/bounded.ts";

test("runs as many at a time as allowed, in order, also after failures", async () => {
  const bounded = new Bounded(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const work = (number: number) => () =>
    new Promise<number>((resolve, reject) => {
      begun.push(number);
      ends.push(() => (number === 0 ? reject(new Error("no")) : resolve(number)));
    });
  const all = Promise.allSettled([0, 1, 2, 3].map((number) => bounded.run(work(number))));
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  for (let next = ends.shift(); next !== undefined; next = ends.shift()) {
    next();
    await new Promise((resolve) => setImmediate(resolve));
  }

  expect((await all).map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled", "fulfilled"]);
  expect(begun).toEqual([0, 1, 2, 3]);
});
