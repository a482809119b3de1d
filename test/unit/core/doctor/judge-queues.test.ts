import { describe, expect, test } from "vitest";

import type { ExaminedQueue } from "../../../../runtime/core/doctor/doctor-facts.ts";
import { judgeQueues } from "../../../../runtime/core/doctor/judge-queues.ts";
import type { QueueState } from "../../../../runtime/core/ports/queue-states.ts";
import { sampleQueue } from "../../../contract/samples.ts";

const callMaxAge = 3_600_000;
const now = 1_790_000_000_000;
const state = (over: Partial<QueueState> = {}): QueueState => ({
  fresh: 0,
  onLoan: 0,
  first: 0,
  last: 0,
  firstAt: undefined,
  lastAt: undefined,
  delivered: 0,
  now,
  ...over,
});

function examined(of: {
  readonly state?: QueueState | undefined;
  readonly slots?: number;
  readonly deadLetters?: number;
}): ExaminedQueue {
  const { slots = 1, deadLetters = 0 } = of;
  const figures = { state: "state" in of ? of.state : state(), workers: { slots, running: 0 }, deadLetters };
  return { queue: sampleQueue({ maxLength: 100 }), figures: { value: figures } };
}

const judge = (queue: ExaminedQueue) =>
  judgeQueues([queue], callMaxAge)
    .filter(({ id }) => id === "queues")
    .map(({ level, sentence }) => [level, sentence]);

describe("a queue", () => {
  test.each<[string, Parameters<typeof examined>[0], (readonly [string, string])[]]>([
    ["that is empty", {}, [["ok", "It is empty, and 1 slot takes from it"]]],
    ["with calls", { state: state({ fresh: 1 }), slots: 3 }, [["ok", "It holds 1 call, and 3 slots take from it"]]],
    [
      "without a store",
      { state: undefined },
      [["problem", "Its store is gone from the broker, and its calls with it"]],
    ],
    ["without workers", { slots: 0 }, [["warning", "No queue-worker takes from it"]]],
    [
      "without workers for its calls",
      { slots: 0, state: state({ fresh: 2, onLoan: 1 }) },
      [["problem", "No queue-worker takes from it, and 3 calls wait"]],
    ],
    [
      "without workers for its only call",
      { slots: 0, state: state({ fresh: 1 }) },
      [["problem", "No queue-worker takes from it, and 1 call waits"]],
    ],
    [
      "whose oldest call is half of call_max_age old",
      { state: state({ fresh: 1, firstAt: now - callMaxAge / 2 }) },
      [["ok", "It holds 1 call, and 1 slot takes from it"]],
    ],
    [
      "whose oldest call is older",
      { state: state({ fresh: 1, firstAt: now - callMaxAge / 2 - 1 }) },
      [["problem", "Its oldest call is 30m old; calls that have not begun are given up after call_max_age 1h"]],
    ],
    ["that is three quarters full", { state: state({ fresh: 75 }) }, [["warning", "It holds 75 of at most 100 calls"]]],
    ["that is full", { state: state({ fresh: 90, onLoan: 10 }) }, [["problem", "It holds 100 of at most 100 calls"]]],
    [
      "that is not quite so full",
      { state: state({ fresh: 74 }) },
      [["ok", "It holds 74 calls, and 1 slot takes from it"]],
    ],
  ])("%s", (_name, of, expected) => {
    expect(judge(examined(of))).toEqual(expected);
  });

  test.each<[string, Parameters<typeof examined>[0], string]>([
    [
      "its lost store",
      { state: undefined },
      "look at the log of the queue-doctor, which recreates it with --recreate default",
    ],
    ["its missing workers", { slots: 0 }, "start one with queue=default, or look why it ended"],
    ["its old calls", { state: state({ fresh: 1, firstAt: now - callMaxAge }) }, "look at weir queues show default"],
    ["its many calls", { state: state({ fresh: 75 }) }, "look at weir queues show default"],
  ])("says what to do about %s", (_name, of, advice) => {
    expect(judgeQueues([examined(of)], callMaxAge)[0]).toMatchObject({ subject: 'queue "default"', advice });
  });

  test("that is well asks for nothing", () => {
    expect(judgeQueues([examined({})], callMaxAge)[0]).toStrictEqual({
      id: "queues",
      level: "ok",
      subject: 'queue "default"',
      sentence: "It is empty, and 1 slot takes from it",
    });
  });

  test("that nobody reported is a warning with the reason", () => {
    const queue = { queue: sampleQueue(), figures: { missing: "no reply within 1750 ms" } };
    expect(judgeQueues([queue], callMaxAge)).toEqual([
      {
        id: "queues",
        level: "warning",
        subject: 'queue "default"',
        sentence: "What is in it is not known (no reply within 1750 ms)",
        advice: "look at the broker first",
      },
    ]);
  });
});

test("without declarations the queues are one problem", () => {
  expect(judgeQueues(undefined, callMaxAge)).toEqual([
    {
      id: "queues",
      level: "problem",
      subject: "queues",
      sentence: "No declarations are known: the broker is away, or the queue-doctor has not declared its queues yet",
      advice: "look at the log of the queue-doctor",
    },
  ]);
});

describe("dead letters", () => {
  const of = (...queues: readonly ExaminedQueue[]) =>
    judgeQueues(queues, callMaxAge).filter(({ id }) => id === "dead-letters");

  test("that are none are ok", () => {
    expect(of(examined({}), examined({}))).toEqual([
      { id: "dead-letters", level: "ok", subject: "dead letters", sentence: "There is none" },
    ]);
  });

  test.each([
    [1, "1 call or callback was given up; dead letters are kept for 14 days"],
    [2, "2 calls or callbacks were given up; dead letters are kept for 14 days"],
  ])("are a warning by queue, with the command that lists them: %i", (deadLetters, sentence) => {
    expect(of(examined({}), examined({ deadLetters }))).toEqual([
      {
        id: "dead-letters",
        level: "warning",
        subject: 'queue "default"',
        sentence,
        advice: "redrive or delete them: weir dead-letters list --queue default",
      },
    ]);
  });

  test("of a queue that nobody reported may be there: nothing is said of them", () => {
    expect(of(examined({}), { queue: sampleQueue(), figures: { missing: "no reply" } })).toEqual([]);
  });
});
