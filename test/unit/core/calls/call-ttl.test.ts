import { expect, test } from "vitest";

import { endedTtl, entryTtl, floorTtl, openTtl, resultTtlOf } from "../../../../runtime/core/calls/call-ttl.ts";
import { sampleEntry } from "../../../contract/samples.ts";

const hour = 3_600_000;
const times = { callMaxAge: 168 * hour, callRecordTtl: hour, ackWait: 60_000 };

test("an open record outlives the longest wait of a call by a day", () => {
  expect(openTtl(times)).toBe(192 * hour);
});

test("the minimum is two minutes, or longer than two leases", () => {
  expect(floorTtl({ ...times, ackWait: 1_000 })).toBe(120_000);
  expect(floorTtl({ ...times, ackWait: 55_000 })).toBe(120_000);
  expect(floorTtl(times)).toBe(130_000);
});

test("an ended record lives as long as the longer of setting and result, never shorter than the minimum", () => {
  expect(endedTtl(times, 0, 0)).toBe(hour);
  expect(endedTtl(times, 24 * hour, 0)).toBe(24 * hour);
  expect(endedTtl({ ...times, callRecordTtl: 1_000 }, 0, 0)).toBe(130_000);
  expect(endedTtl(times, 24 * hour, 0.25)).toBe(24 * hour);
});

test("above a quarter of the record limit, ended records live for the minimum only", () => {
  expect(endedTtl(times, 24 * hour, 0.2501)).toBe(130_000);
  expect(resultTtlOf(times, 24 * hour, false, 0.3)).toBe(130_000);
  expect(resultTtlOf(times, 5_000, false, 0.3)).toBe(5_000);
});

test("a result lives until its callback ends, then as long as the function says", () => {
  expect(resultTtlOf(times, 0, true, 0.9)).toBe(192 * hour);
  expect(resultTtlOf(times, 0, false, 0)).toBe(0);
  expect(resultTtlOf(times, hour, false, 0.25)).toBe(hour);
});

test("the life of a record depends on its call: open, ended, or ended with a result that lives longer", () => {
  const over = sampleEntry({ state: "done", ended: 0, callback: null });
  const result = { run: 1, size: 0, stored: true, ttl: 5 * hour };
  expect(entryTtl(times, sampleEntry(), 0.9)).toBe(192 * hour);
  expect(entryTtl(times, over, 0)).toBe(hour);
  expect(entryTtl(times, { ...over, result }, 0)).toBe(5 * hour);
  expect(entryTtl(times, { ...over, result }, 0.9)).toBe(130_000);
});
