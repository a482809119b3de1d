import { expect, test } from "vitest";

import { SharedReport } from "../../../../runtime/core/doctor/shared-report.ts";

test("a report is made once for all readers, and again after its time", async () => {
  let now = 0;
  let made = 0;
  const shared = new SharedReport(
    async () => ++made,
    10_000,
    () => now,
  );
  expect(await Promise.all([shared.read(), shared.read()])).toEqual([1, 1]);
  now = 9_999;
  expect(await shared.read()).toBe(1);
  now = 10_000;
  expect(await shared.read()).toBe(2);
  expect(made).toBe(2);
});

test("one that failed is not kept, and what was begun later stays", async () => {
  let now = 0;
  const waiting: PromiseWithResolvers<string>[] = [];
  const shared = new SharedReport(
    () => {
      const made = Promise.withResolvers<string>();
      waiting.push(made);
      return made.promise;
    },
    10_000,
    () => now,
  );
  const first = shared.read();
  now = 20_000;
  const second = shared.read();
  waiting[0]?.reject(new Error("no"));
  await expect(first).rejects.toThrow("no");
  expect(shared.read()).toBe(second);
  waiting[1]?.reject(new Error("no again"));
  await expect(second).rejects.toThrow("no again");
  const third = shared.read();
  expect(third).not.toBe(second);
  waiting[2]?.resolve("yes");
  expect(await third).toBe("yes");
});

test("the time of a report is that of the process, unless another clock is passed", async () => {
  let made = 0;
  const shared = new SharedReport(async () => ++made, 3_600_000);
  expect(await shared.read()).toBe(1);
  expect(await shared.read()).toBe(1);
});
