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

/** The decision after looks at these states, one each so many milliseconds apart. */
function after(period: number, ...states: readonly Partial<WorkState>[]) {
  let memory: WorkHistory | undefined;
  let decision: ReturnType<typeof decideRepair> = { action: "none" };
  for (const [index, over] of states.entries()) {
    const state = { ...quiet, ...over };
    memory = recordWork(memory, state, index * period);
    decision = decideRepair(state, memory, index * period, times);
  }
  return decision;
}

test("a store in order is left alone", () => {
  expect(after(30_000, {}, { offers: 11 }, { unanswered: 3, offers: 14 })).toEqual({ action: "none" });
});

test("debris is mended once it has stayed a minute", () => {
  const orphans = { orphans: 2 };
  expect(after(30_000, orphans, orphans)).toEqual({ action: "none" });
  expect(after(30_000, orphans, orphans, orphans)).toEqual({ action: "rebuild", because: "orphaned" });
  expect(after(30_000, orphans, {}, orphans, orphans)).toEqual({ action: "none" });
});

test("what stays unanswered for three leases while workers wait is looked into", () => {
  const stuck = { unanswered: 1, waitingWorkers: 2 };
  expect(after(1_000, stuck, stuck, stuck)).toEqual({ action: "none" });
  expect(after(1_000, stuck, stuck, stuck, stuck)).toEqual({ action: "inspect" });
  expect(after(1_000, stuck, stuck, { ...stuck, offers: 11 }, { ...stuck, offers: 11 })).toEqual({ action: "none" });
  expect(after(1_000, ...Array.from({ length: 6 }, () => ({ ...stuck, waitingWorkers: 0 })))).toEqual({
    action: "none",
  });
});

test("a server of another version is a reason at once, also shortly after a repair", () => {
  expect(after(1, { current: false })).toEqual({ action: "rebuild", because: "broker-changed" });
  const memory = { orphanedSince: 0, offers: 0, quietSince: 0, rebuiltAt: 60_000 };
  expect(decideRepair({ ...quiet, orphans: 1 }, memory, 100_000, times)).toEqual({ action: "none" });
  expect(decideRepair({ ...quiet, orphans: 1 }, memory, 360_000, times)).toMatchObject({ because: "orphaned" });
  expect(decideRepair({ ...quiet, current: false }, memory, 100_000, times)).toMatchObject({ action: "rebuild" });
});

test("time in which nothing was unanswered does not count as quiet", () => {
  const stuck = { unanswered: 1, waitingWorkers: 2 };
  expect(after(1_000, {}, {}, {}, stuck)).toEqual({ action: "none" });
  expect(after(1_000, {}, {}, {}, stuck, stuck, stuck)).toEqual({ action: "inspect" });
});

test("a store is left alone for as long as repairs must lie apart", () => {
  const memory = { orphanedSince: 0, offers: 0, quietSince: 0, rebuiltAt: 60_000 };
  expect(decideRepair({ ...quiet, orphans: 1 }, memory, 359_999, times)).toEqual({ action: "none" });
});
