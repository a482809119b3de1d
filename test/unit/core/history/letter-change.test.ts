import { expect, test } from "vitest";

import { callTimeline } from "../../../../runtime/core/history/call-timeline.ts";
import { callChangeRow } from "../../../../runtime/core/history/call-change-row.ts";
import { letterChange } from "../../../../runtime/core/history/letter-change.ts";
import type { DeadLetterFacts } from "../../../../runtime/core/ports/dead-letters.ts";
import { historyChange, historyId } from "../../../support/history-calls.ts";

const letter: DeadLetterFacts = {
  kind: "call",
  id: historyId(1),
  queue: "slow",
  function: { namespace: "shop", name: "pay" },
  reason: "exhausted",
  attempts: 3,
  lastStatus: 503,
  acceptedAt: 1_800_000_001_000,
  deadAt: 1_800_000_009_000,
  redrives: 1,
};

test("a dead letter says that its call failed, when, and how often it ran", () => {
  const change = letterChange(letter);
  const call = change === undefined ? undefined : callChangeRow(undefined, change);
  if (call === undefined || call === "unchanged") throw new Error("there is no call");
  expect(call.row).toMatchObject({
    id: historyId(1),
    namespace: "shop",
    name: "pay",
    queue: "slow",
    kind: "async",
    state: "failed",
    reason: "exhausted",
    status: 503,
    accepted: letter.acceptedAt,
    ended: letter.deadAt,
    retries: 2,
  });
  expect(callTimeline(call, letter.deadAt + 1).map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(["accepted", "ended"]),
  );
});

test("a record says more, whichever comes first", () => {
  const change = letterChange({ ...letter, redrives: 0 });
  const record = historyChange(1, { state: "failed", reason: "crash" }, 1);
  if (change === undefined) throw new Error("there is no change");
  const after = callChangeRow(undefined, record);
  if (after === undefined || after === "unchanged") throw new Error("there is no call");
  expect(callChangeRow(after, change)).toBe("unchanged");
});

test.each([
  ["a callback", { kind: "callback", reason: "callback" } as const],
  ["what is no call", { function: undefined, reason: "undecodable" } as const],
])("of %s it is not known how it ended", (_, over) => {
  expect(letterChange({ ...letter, ...over })).toBeUndefined();
});
