import { afterEach, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import type { FaultBench } from "../support/fault-bench.ts";
import { figure } from "../support/figure.ts";
import {
  callbacksAtOnce,
  expectNoneOvertook,
  holderOf,
  isShaky,
  openStrictBench,
  queueOrdered,
  runsNow,
  shakyFailures,
} from "../support/strict-bench.ts";

let bench: FaultBench | undefined;
afterEach(() => bench?.close());

test("FW18 the worker that holds a strict queue killed three times, twice in a run, once while its call waits: nothing overtakes", async () => {
  const opened = (bench = await openStrictBench());
  const { platform } = opened;
  const ids = await queueOrdered(opened, 30);
  const shaky = ids.filter(isShaky);
  const waits = async (): Promise<boolean> => {
    const records = await Promise.all(shaky.map((id) => platform.calls.status(id)));
    return records.some((record) => record?.state === "waiting");
  };
  for (const when of ["run", "wait", "run"]) {
    const holder = await holderOf(platform);
    const moment = when === "run" ? runsNow(platform, holder) : waits;
    await eventually(moment, { every: 5, what: `the holder's ${when}` });
    await holder.kill();
    await holder.start();
  }
  for (const id of ids) expect(await platform.calls.ended(id, 30_000)).toMatchObject({ state: "done" });

  const { account, violations } = await opened.settle({
    extraRuns: 3,
    extraCallbacks: 3 * callbacksAtOnce,
    inOrder: true,
  });
  expect(violations).toEqual([]);
  expectNoneOvertook(account.runs, ids);
  figure(
    "S13",
    `strict: 0 inversions in ${account.runs.length} runs of ${ids.length} calls, the holder killed three times`,
  );
  for (const id of shaky) expect(account.runs.filter((run) => run.id === id).length).toBeGreaterThan(shakyFailures);
});
