import { expect, test } from "vitest";

import { SharedRead } from "../../../runtime/core/shared-read.ts";

/** A read whose outcomes a test decides, and a clock. */
function open(life = { success: 100, failure: 10 }) {
  const reads: PromiseWithResolvers<number>[] = [];
  const at = { now: 0 };
  const shared = new SharedRead(
    () => {
      const read = Promise.withResolvers<number>();
      reads.push(read);
      return read.promise;
    },
    life,
    () => at.now,
  );
  return { reads, at, shared };
}

test("who asks while a read runs shares it, however long it takes", async () => {
  const { reads, at, shared } = open();
  const asked = [shared.get(), shared.get()];
  at.now = 1_000_000;
  asked.push(shared.get());
  reads[0]?.resolve(7);
  expect(await Promise.all(asked)).toEqual([7, 7, 7]);
  expect(reads).toHaveLength(1);
});

test("an outcome is kept from the end of its read, a failure for another time than a success", async () => {
  const { reads, at, shared } = open();
  const first = shared.get();
  at.now = 50;
  reads[0]?.reject(new Error("away"));
  await expect(first).rejects.toThrow("away");
  at.now = 59;
  await expect(shared.get()).rejects.toThrow("away");
  at.now = 60;
  const second = shared.get();
  reads[1]?.resolve(2);
  expect(await second).toBe(2);
  at.now = 159;
  expect([await shared.get(), shared.isKept]).toEqual([2, true]);
  at.now = 160;
  expect(shared.isKept).toBe(false);
  void shared.get();
  expect(reads).toHaveLength(3);
});

test("a clock that is set back keeps nothing", async () => {
  const { reads, at, shared } = open();
  at.now = 1_000;
  const first = shared.get();
  reads[0]?.resolve(1);
  await first;
  at.now = 0;
  void shared.get();
  expect(reads).toHaveLength(2);
});

test("what is forgotten is read anew, and its late outcome is not kept", async () => {
  const { reads, shared } = open();
  const first = shared.get();
  shared.forget();
  const second = shared.get();
  reads[1]?.resolve(2);
  reads[0]?.resolve(1);
  expect([await first, await second, await shared.get()]).toEqual([1, 2, 2]);
  expect(reads).toHaveLength(2);
});

test("nothing is kept before the first read, nor after it was forgotten", () => {
  const { shared } = open();
  expect(shared.isKept).toBe(false);
  void shared.get();
  expect(shared.isKept).toBe(true);
  shared.forget();
  expect(shared.isKept).toBe(false);
});
