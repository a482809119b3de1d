import { expect, test } from "vitest";

import { openPlatform } from "../support/platform.ts";
import { sleepBursts } from "../support/sleep-bursts.ts";

test("5 000 calls in bursts round the idle limit: none is lost, while the function goes to zero again and again", async () => {
  await using platform = await openPlatform();
  const { answered, failures, sleeps } = await sleepBursts(platform, { calls: 5_000, random: Math.random });
  expect(failures).toEqual([]);
  expect(answered).toBe(5_000);
  expect(sleeps).toBeGreaterThanOrEqual(12);
}, 180_000);
