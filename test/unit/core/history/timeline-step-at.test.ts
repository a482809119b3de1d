import { expect, test } from "vitest";

import { timelineStep } from "../../../../runtime/core/history/timeline-step-at.ts";

const at = Date.UTC(2026, 0, 31, 12);

test("has what is known of a step, with its times as text", () => {
  const facts = { attempt: 2, worker: "w-1", replica: "r-1", status: 503, ms: 12, reason: "crash" };
  expect(timelineStep("answered", at, { ...facts, next: at + 1_500 })).toStrictEqual({
    at: "2026-01-31T12:00:00.000Z",
    kind: "answered",
    ...facts,
    next: "2026-01-31T12:00:01.500Z",
  });
});

test("leaves out what is not known", () => {
  const facts = { attempt: undefined, worker: undefined, replica: undefined, status: undefined };
  const bare = { at: "2026-01-31T12:00:00.000Z", kind: "accepted" };
  expect(timelineStep("accepted", at)).toStrictEqual(bare);
  expect(timelineStep("accepted", at, { ...facts, ms: undefined, reason: undefined, next: undefined })).toStrictEqual(
    bare,
  );
});
