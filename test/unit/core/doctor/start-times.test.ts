import { expect, test } from "vitest";

import { StartTimes } from "../../../../runtime/core/doctor/start-times.ts";
import { desireFunction } from "../../../../runtime/core/functions/desired-function.ts";
import { FunctionTable } from "../../../../runtime/core/replicas/function-table.ts";
import { deployedAt } from "../../../support/examined-function.ts";

const ref = { name: "hello", namespace: "functions" };
const key = "hello.functions";
const wanted = desireFunction(undefined, ref.namespace, { service: ref.name, image: "a" }, deployedAt);

function open(synced = true) {
  let now = 0;
  const table = new FunctionTable({ defaultNamespace: "functions", aliases: [] });
  const starts = new StartTimes(table, () => now);
  const { functionObserver: functions, endpointsObserver: endpoints } = table;
  const sync = (): void => {
    functions.synced();
    endpoints.synced();
  };
  if (synced) sync();
  return {
    starts,
    sync,
    at: (milliseconds: number) => void (now = milliseconds),
    desire: (replicas: number) => functions.set({ ...wanted, replicas }),
    ready: (...addresses: readonly string[]) =>
      endpoints.set({ ...ref, addresses, observedGeneration: 1, conditions: [] }),
    remove: () => functions.removed(ref),
  };
}

test("a start lasts from when replicas are desired until the first one is ready", () => {
  const { starts, at, desire, ready } = open();
  at(1_000);
  desire(1);
  expect(starts.last(key)).toBeUndefined();
  at(3_000);
  ready();
  at(4_000);
  ready("127.0.0.1:1");
  expect(starts.last(key)).toBe(3_000);
  at(9_000);
  ready("127.0.0.1:1", "127.0.0.1:2");
  expect(starts.last(key)).toBe(3_000);
});

test("the last start counts, and one that was given up does not", () => {
  const { starts, at, desire, ready } = open();
  desire(1);
  at(5_000);
  ready("127.0.0.1:1");
  desire(0);
  ready();
  at(10_000);
  desire(1);
  at(11_000);
  desire(0);
  expect(starts.last(key)).toBe(5_000);
  at(20_000);
  desire(1);
  at(21_000);
  ready("127.0.0.1:2");
  expect(starts.last(key)).toBe(1_000);
});

test("what was ready before this process knew is no start, and a function that is gone has none", () => {
  const { starts, sync, at, desire, ready, remove } = open(false);
  desire(1);
  at(500);
  ready("127.0.0.1:1");
  sync();
  expect(starts.last(key)).toBeUndefined();
  ready();
  at(1_500);
  ready("127.0.0.1:2");
  expect(starts.last(key)).toBe(1_000);
  remove();
  expect(starts.last(key)).toBeUndefined();
});

test("a function that is deployed again begins anew: the start that its removal ended does not count", () => {
  const { starts, at, desire, ready, remove } = open();
  desire(1);
  at(5_000);
  remove();
  desire(1);
  at(6_000);
  ready("127.0.0.1:1");
  expect(starts.last(key)).toBe(1_000);
});

test("the time of a start is that of the process, unless another clock is passed", () => {
  const table = new FunctionTable({ defaultNamespace: "functions", aliases: [] });
  const starts = new StartTimes(table);
  table.functionObserver.synced();
  table.endpointsObserver.synced();
  table.functionObserver.set({ ...wanted, replicas: 1 });
  table.endpointsObserver.set({ ...ref, addresses: ["127.0.0.1:1"], observedGeneration: 1, conditions: [] });
  expect(starts.last(key)).toBeGreaterThanOrEqual(0);
});
