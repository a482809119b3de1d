import { expect, test } from "vitest";

import { decideRepair, recordWork, type WorkHistory } from "../../../../runtime/core/queues/decide-repair.ts";
import type { WorkState } from "../../../../runtime/core/ports/queue-store.ts";

const times = { orphanGrace: 60_000, repairCooldown: 300_000 };
const quiet: WorkState = {
  queue: "default",
  orphans: 0,
  unanswered: 0,
  waitingWorkers: 0,
  offers: 10,
  ackWait: 1_000,
  current: true,
  oldestAt: undefined,
};

/** The decision after looks at these states, `period` milliseconds apart. */
function after(period: number, ...states: readonly Partial<WorkState>[]) {
  let history: WorkHistory | undefined;
  let decision: ReturnType<typeof decideRepair> = { action: "none" };
  for (const [index, over] of states.entries()) {
    const state = { ...quiet, ...over };
    history = recordWork(history, state, index * period);
    decision = decideRepair(state, history, index * period, times);
  }
  return decision;
}

test("a healthy queue is left alone", () => {
  expect(after(30_000, {}, { offers: 11 }, { unanswered: 3, offers: 14 })).toEqual({ action: "none" });
});

test("orphans are repaired once they have stayed a minute", () => {
  const orphans = { orphans: 2 };
  expect(after(30_000, orphans, orphans)).toEqual({ action: "none" });
  expect(after(30_000, orphans, orphans, orphans)).toEqual({ action: "rebuild", because: "orphaned" });
  expect(after(30_000, orphans, {}, orphans, orphans)).toEqual({ action: "none" });
});

test("a queue that stays unanswered for three leases while workers wait is inspected", () => {
  const idle = { unanswered: 1, waitingWorkers: 2 };
  expect(after(1_000, idle, idle, idle)).toEqual({ action: "none" });
  expect(after(1_000, idle, idle, idle, idle)).toEqual({ action: "inspect" });
  expect(after(1_000, idle, idle, { ...idle, offers: 11 }, { ...idle, offers: 11 })).toEqual({ action: "none" });
  expect(after(1_000, ...Array.from({ length: 6 }, () => ({ ...idle, waitingWorkers: 0 })))).toEqual({
    action: "none",
  });
});

test("a server of another version is a reason for an immediate repair, also shortly after another", () => {
  expect(after(1, { current: false })).toEqual({ action: "rebuild", because: "broker-changed" });
  const history = { orphanedSince: 0, offers: 0, quietSince: 0, rebuiltAt: 60_000 };
  expect(decideRepair({ ...quiet, orphans: 1 }, history, 100_000, times)).toEqual({ action: "none" });
  expect(decideRepair({ ...quiet, orphans: 1 }, history, 360_000, times)).toMatchObject({ because: "orphaned" });
  expect(decideRepair({ ...quiet, current: false }, history, 100_000, times)).toMatchObject({ action: "rebuild" });
});

test("time in which nothing was unanswered does not count as quiet", () => {
  const idle = { unanswered: 1, waitingWorkers: 2 };
  expect(after(1_000, {}, {}, {}, idle)).toEqual({ action: "none" });
  expect(after(1_000, {}, {}, {}, idle, idle, idle)).toEqual({ action: "inspect" });
});

test("a queue is left alone during the repair cooldown", () => {
  const history = { orphanedSince: 0, offers: 0, quietSince: 0, rebuiltAt: 60_000 };
  expect(decideRepair({ ...quiet, orphans: 1 }, history, 359_999, times)).toEqual({ action: "none" });
});
