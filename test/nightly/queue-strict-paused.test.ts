import { afterEach, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import type { FaultBench } from "../support/fault-bench.ts";
import {
  callbacksAtOnce,
  expectNoneOvertook,
  holderOf,
  openStrictBench,
  queueOrdered,
  runsNow,
} from "../support/strict-bench.ts";

let bench: FaultBench | undefined;
afterEach(() => bench?.close());

test("a paused worker that holds a strict queue is replaced, and does not interfere when resumed", async () => {
  const opened = (bench = await openStrictBench());
  const { platform } = opened;
  const ids = await queueOrdered(opened, 15);
  const holder = await holderOf(platform);
  await eventually(runsNow(platform, holder), { every: 5, what: "the holder's run" });
  holder.pause();
  for (const id of ids) expect(await platform.calls.ended(id, 30_000)).toMatchObject({ state: "done" });
  holder.resume();
  ids.push(...(await queueOrdered(opened, 1)));
  for (const id of ids) expect(await platform.calls.ended(id, 20_000)).toMatchObject({ state: "done" });

  const { account, violations } = await opened.settle({ extraRuns: 1, extraCallbacks: callbacksAtOnce, inOrder: true });
  expect(violations).toEqual([]);
  expectNoneOvertook(account.runs, ids);
});
