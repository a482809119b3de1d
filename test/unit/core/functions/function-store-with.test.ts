import { expect, test } from "vitest";

import { desireFunction } from "../../../../runtime/core/functions/desired-function.ts";
import { functionStoreWith } from "../../../../runtime/core/functions/function-store-with.ts";
import { MemoryFunctionStore } from "../../../support/memory/memory-function-store.ts";

const ref = { namespace: "functions", name: "hello" };
const hello = desireFunction(undefined, "functions", { service: "hello", image: "none" }, "2026-01-01T00:00:00Z");

test("what is not replaced reaches the store itself, with its result", async () => {
  const inner = new MemoryFunctionStore();
  const store = functionStoreWith(inner, {});
  const seen: string[] = [];
  await store.watch({
    set: ({ name }) => seen.push(`set ${name}`),
    removed: ({ name }) => seen.push(`removed ${name}`),
    synced: () => seen.push("synced"),
  });
  expect(await store.write(ref, () => hello)).toEqual(hello);
  expect(await inner.get(ref)).toEqual(hello);
  expect(await store.get(ref)).toEqual(hello);
  expect(await store.list("functions")).toEqual([hello]);
  expect(await store.remove(ref)).toBe(true);
  expect(await inner.get(ref)).toBeUndefined();
  expect(seen).toEqual(["synced", "set hello", "removed hello"]);
});

test("what is replaced does not reach it", async () => {
  const inner = new MemoryFunctionStore();
  const store = functionStoreWith(inner, { write: () => Promise.resolve(hello) });
  expect(await store.write(ref, () => hello)).toBe(hello);
  expect(await store.list("functions")).toEqual([]);
});
