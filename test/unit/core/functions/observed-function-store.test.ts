import { expect, test } from "vitest";

import { MemoryFunctionStore } from "../../../support/memory/memory-function-store.ts";
import { desireFunction } from "../../../../runtime/core/functions/desired-function.ts";
import { FunctionTable } from "../../../../runtime/core/replicas/function-table.ts";
import { observedFunctionStore } from "../../../../runtime/core/functions/observed-function-store.ts";

const ref = { namespace: "functions", name: "hello" };
const deploy = (at: string) => (current: Parameters<typeof desireFunction>[0]) =>
  desireFunction(current, ref.namespace, { service: ref.name, image: "hello" }, at);

function open() {
  const table = new FunctionTable({ defaultNamespace: "functions", aliases: [] });
  return { table, store: observedFunctionStore(new MemoryFunctionStore(), table.functionObserver) };
}

test("a write is in the table when it resolves, without any watch", async () => {
  const { table, store } = open();
  await store.write(ref, deploy("2026-01-01T00:00:00Z"));
  expect(table.find("hello", undefined)?.wanted.generation).toBe(1);

  await store.remove(ref);
  expect(table.find("hello", undefined)).toBeUndefined();
});

test("an older state that the watch brings late changes nothing, a recreated function does", async () => {
  const { table, store } = open();
  const first = await store.write(ref, deploy("2026-01-01T00:00:00Z"));
  await store.write(ref, deploy("2026-01-02T00:00:00Z"));
  table.functionObserver.set(first);
  expect(table.find("hello", undefined)?.wanted.generation).toBe(2);

  table.functionObserver.set({ ...first, createdAt: "2026-01-03T00:00:00Z" });
  expect(table.find("hello", undefined)?.wanted.generation).toBe(1);
});

test("reads and watches go to the store behind it", async () => {
  const { store } = open();
  const written = await store.write(ref, deploy("2026-01-01T00:00:00Z"));
  expect(await store.get(ref)).toEqual(written);
  expect(await store.list("functions")).toEqual([written]);
  const events: string[] = [];
  const end = await store.watch({
    set: ({ name }) => events.push(`set ${name}`),
    removed: ({ name }) => events.push(`removed ${name}`),
    synced: () => events.push("synced"),
  });
  expect(await store.remove(ref)).toBe(true);
  end();
  await store.write(ref, deploy("2026-01-02T00:00:00Z"));
  expect(events).toEqual(["set hello", "synced", "removed hello"]);
});
