import { expect, test } from "vitest";

import { openPlatform } from "../support/platform.ts";
import { sleepBursts } from "../support/sleep-bursts.ts";

const calls = 100_000;
/** One spends most of the time asleep or starting. */
const functions = 4;

test("100 000 calls in bursts around the idle limit: none is lost", async () => {
  await using platform = await openPlatform();
  const { answered, failures, sleeps } = await sleepBursts(platform, { calls, functions, random: Math.random });
  expect(failures).toEqual([]);
  expect(answered).toBe(calls);
  expect(sleeps).toBeGreaterThanOrEqual(250);
}, 3_600_000);
