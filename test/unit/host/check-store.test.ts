import { expect, test } from "vitest";

import { checkStore } from "../../../runtime/host/check-store.ts";

const wanted = { asyncMaxBody: 1_048_576, maxCallRecords: 500_000 };
const check = (bytes: number, calls: number, more: Partial<typeof wanted> = {}) =>
  checkStore({ bytes, calls }, "/data/nats", { ...wanted, ...more });

test("room for 1 000 calls at a time is needed, unless fewer are configured", () => {
  expect(() => check(190_000_000, 1_000)).not.toThrow();
  expect(() => check(190_000_000, 999)).toThrow(
    'Cannot start nats-server in "/data/nats": its store is 190 MB: 999 calls at a time, and 1000 are needed; make room on that disk or choose another with --data',
  );
  expect(() => check(190_000_000, 10, { maxCallRecords: 10 })).not.toThrow();
  expect(() => check(190_000_000, 9, { maxCallRecords: 10 })).toThrow("9 calls at a time, and 10 are needed");
});

test("a store has room for ten of the largest calls", () => {
  const least = 25 * (1_048_576 + 262_144);
  expect(() => check(least, 1_000)).not.toThrow();
  expect(() => check(least - 1, 1_000)).toThrow(
    "its store is 32 MB: 1 000 calls at a time, and calls of 1048576 bytes (async_max_body) need more",
  );
});
