import { expect, test } from "vitest";

import { openPlatform } from "../support/platform.ts";
import { sleepBursts } from "../support/sleep-bursts.ts";

const calls = 100_000;

test("100 000 calls in bursts around the idle limit: none is lost", async () => {
  await using platform = await openPlatform();
  const { answered, failures, sleeps } = await sleepBursts(platform, { calls, random: Math.random });
  expect(failures).toEqual([]);
  expect(answered).toBe(calls);
  expect(sleeps).toBeGreaterThanOrEqual(250);
}, 3_600_000);
