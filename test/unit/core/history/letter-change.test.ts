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

test("each field of the record is that of the letter, and nothing is made up", () => {
  expect(letterChange({ ...letter, acceptedAt: 1_800_000_001_000.7, lastStatus: undefined })).toEqual({
    kind: "entry",
    id: historyId(1),
    revision: 0,
    entry: {
      v: 2,
      state: "failed",
      queue: "slow",
      namespace: "shop",
      function: "pay",
      digest: "",
      accepted: "1800000001000000000",
      run: 3,
      retries: 2,
      lost: 0,
      owner: null,
      next: null,
      attempts: [],
      ended: letter.deadAt,
      reason: "exhausted",
      status: null,
      result: null,
      pending: [],
      callback: null,
      maxRetries: 2,
      parent: null,
      expires: letter.deadAt,
      redrives: 1,
    },
  });
});

test("a call that never ran has no retries", () => {
  expect(letterChange({ ...letter, attempts: 0 })).toMatchObject({ entry: { run: 0, retries: 0, maxRetries: 0 } });
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
  ["a callback for another reason", { kind: "callback", reason: "exhausted" } as const],
  ["a call by its callback", { kind: "call", reason: "callback" } as const],
  ["what is no call", { function: undefined, reason: "undecodable" } as const],
])("of %s it is not known how it ended", (_, over) => {
  expect(letterChange({ ...letter, ...over })).toBeUndefined();
});
