import { expect, test } from "vitest";

import type { TimelineStep } from "../../../../runtime/api/schemas/history/timeline-step.ts";
import { waterfallOf } from "../../../../runtime/console/pages/calls/one/waterfall.ts";

const start = Date.parse("2026-01-31T12:00:00.000Z");
const step = (kind: TimelineStep["kind"], ms: number, facts: Partial<TimelineStep> = {}): TimelineStep => ({
  kind,
  at: new Date(start + ms).toISOString(),
  ...facts,
});
/** Kind, begin and length of each segment. */
const shape = (timeline: readonly TimelineStep[], now = 100_000) => {
  const { rows, from, to } = waterfallOf({ timeline: [...timeline] }, start + now);
  return {
    span: [from - start, to - start],
    rows: rows.map(({ kind, number, segments }) => [
      kind,
      number,
      segments.map((one) => [
        one.kind,
        one.from - start,
        one.to - one.from,
        ...(one.isOpen ? ["open"] : []),
        ...(one.hasFailed ? ["failed"] : []),
      ]),
    ]),
  };
};

test("a call that waits is one open stretch", () => {
  expect(shape([step("accepted", 0)], 2_000)).toEqual({
    span: [0, 2_000],
    rows: [["queue", undefined, [["waiting", 0, 2_000, "open"]]]],
  });
});

test("a cold start, a retry after a back-off, and a callback on the second try", () => {
  const timeline = [
    step("accepted", 0),
    step("taken", 20, { attempt: 1, worker: "w:1" }),
    step("started", 1_420, { attempt: 1, replica: "a-1" }),
    step("answered", 1_432, { attempt: 1, status: 503, ms: 12 }),
    step("retry", 1_432, { attempt: 1, reason: "answered 503", next: new Date(start + 2_432).toISOString() }),
    step("taken", 2_440, { attempt: 2 }),
    step("started", 2_440, { attempt: 2, replica: "a-2" }),
    step("answered", 2_450, { attempt: 2, status: 200, ms: 10 }),
    step("ended", 2_450, { status: 200 }),
    step("callbackTry", 2_460, {
      attempt: 1,
      status: 503,
      ms: 30,
      reason: "answered 503",
      next: new Date(start + 4_000).toISOString(),
    }),
    step("callbackTry", 4_000, { attempt: 2, status: 200, ms: 5 }),
    step("callbackEnded", 4_005, { status: 200 }),
  ];
  expect(shape(timeline)).toEqual({
    span: [0, 4_005],
    rows: [
      ["queue", undefined, [["waiting", 0, 20]]],
      [
        "attempt",
        1,
        [
          ["starting", 20, 1_400],
          ["running", 1_420, 12, "failed"],
          ["backOff", 1_432, 1_008],
        ],
      ],
      [
        "attempt",
        2,
        [
          ["starting", 2_440, 0],
          ["running", 2_440, 10],
        ],
      ],
      [
        "callback",
        1,
        [
          ["callback", 2_460, 30, "failed"],
          ["backOff", 2_490, 1_510],
        ],
      ],
      ["callback", 2, [["callback", 4_000, 5]]],
    ],
  });
  const { rows } = waterfallOf({ timeline }, start);
  expect(rows[1]).toMatchObject({ replica: "a-1", status: 503, reason: "answered 503" });
});

test("a lost run waits again, and a redrive begins anew", () => {
  expect(
    shape([
      step("accepted", 0),
      step("taken", 10, { attempt: 1 }),
      step("started", 10, { attempt: 1, replica: "a" }),
      step("lost", 60_000, { attempt: 1, reason: "lost" }),
      step("taken", 60_100, { attempt: 2 }),
      step("ended", 60_200, { reason: "crash" }),
      step("deadLetter", 60_200, { reason: "crash" }),
      step("redriven", 90_000),
    ]),
  ).toEqual({
    span: [0, 100_000],
    rows: [
      ["queue", undefined, [["waiting", 0, 10]]],
      [
        "attempt",
        1,
        [
          ["starting", 10, 0],
          ["running", 10, 59_990, "failed"],
          ["waiting", 60_000, 100],
        ],
      ],
      ["attempt", 2, [["starting", 60_100, 100, "failed"]]],
      ["queue", undefined, [["waiting", 90_000, 10_000, "open"]]],
    ],
  });
});

test("a synchronous call is one run", () => {
  expect(
    shape([step("accepted", 0), step("started", 5, { replica: "a" }), step("answered", 9), step("ended", 9)]),
  ).toEqual({
    span: [0, 9],
    rows: [
      ["queue", undefined, [["waiting", 0, 5]]],
      ["attempt", 1, [["running", 5, 4]]],
    ],
  });
});

test("a call without a timeline has no rows", () => {
  expect(waterfallOf({ timeline: [] }, start)).toEqual({ from: start, to: start, rows: [] });
});
