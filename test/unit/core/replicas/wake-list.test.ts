import { expect, test } from "vitest";

import { WakeList } from "../../../../runtime/core/replicas/wake-list.ts";

/** A list, and the names of the waiters that were woken. */
function open() {
  const list = new WakeList();
  const woken: string[] = [];
  const watch = (key: string, name: string) => list.watch(key, () => woken.push(name));
  /** Who is woken by a change of `key`. */
  const wokenBy = (key: string): string[] => {
    list.wake(key);
    return woken.splice(0);
  };
  return { watch, wokenBy };
}

test("a change wakes all who wait for its key, and nobody else", () => {
  const { watch, wokenBy } = open();
  watch("hello", "one");
  watch("hello", "two");
  watch("figlet", "other");
  expect(wokenBy("hello")).toEqual(["one", "two"]);
  expect(wokenBy("hello")).toEqual(["one", "two"]);
  expect(wokenBy("figlet")).toEqual(["other"]);
  expect(wokenBy("none")).toEqual([]);
});

test("who has left is not woken any more, and all others still are", () => {
  const { watch, wokenBy } = open();
  const leave = [watch("hello", "one"), watch("hello", "two")];
  leave[0]?.();
  expect(wokenBy("hello")).toEqual(["two"]);
  leave[1]?.();
  expect(wokenBy("hello")).toEqual([]);
  watch("hello", "three");
  expect(wokenBy("hello")).toEqual(["three"]);
});

test("leaving twice takes nobody with it who came in between", () => {
  const { watch, wokenBy } = open();
  const leave = watch("hello", "one");
  leave();
  watch("hello", "two");
  leave();
  expect(wokenBy("hello")).toEqual(["two"]);
});
