import { expect, test } from "vitest";

import { openPlatform } from "../support/platform.ts";
import { sleepBursts } from "../support/sleep-bursts.ts";

test("800 calls in bursts around the idle limit: none is lost by repeated scaling to zero", async () => {
  await using platform = await openPlatform();
  const { answered, failures, sleeps } = await sleepBursts(platform, { calls: 800, random: Math.random });
  expect(failures).toEqual([]);
  expect(answered).toBe(800);
  expect(sleeps).toBeGreaterThanOrEqual(2);
});
