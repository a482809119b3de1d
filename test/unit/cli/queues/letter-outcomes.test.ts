import { describe, expect, test } from "vitest";

import {
  outcomeLine,
  refusalLines,
  type LetterOutcome,
} from "../../../../runtime/cli/commands/queues/letter-outcomes.ts";

const done: LetterOutcome = { kind: "done" };
const refused = (callId: string, reason: string): LetterOutcome => ({
  kind: "refused",
  callId,
  sentence: `Cannot redrive call "${callId}": ${reason}`,
});

test.each([
  [[], "redriven 0"],
  [[done], "redriven 1"],
  [
    [...Array.from({ length: 97 }, () => done), ...["a", "b", "c"].map((id) => refused(id, "full"))],
    "redriven 97, refused 3",
  ],
  [[refused("a", "full")], "redriven 0, refused 1"],
])("%# is summed up in a line", (outcomes, line) => {
  expect(outcomeLine("redriven", outcomes)).toBe(line);
});

describe("the reasons of refusals", () => {
  test("are none when all was done", () => {
    expect(refusalLines([done, done])).toEqual([]);
  });

  test("are the gateway's sentence for a single one", () => {
    expect(refusalLines([done, refused("a", "it is queued")])).toEqual(['Cannot redrive call "a": it is queued']);
  });

  test("are put together, the most frequent first, with three ids", () => {
    const outcomes = [
      refused("a", "it is done"),
      ...["b", "c", "d", "e", "f"].map((id) => refused(id, "the queue is full")),
    ];
    expect(refusalLines(outcomes)).toEqual([
      "5 refused: the queue is full (b, c, d, and 2 more)",
      'Cannot redrive call "a": it is done',
    ]);
  });

  test("keep quotes and colons of their own", () => {
    const outcomes = ["a", "b"].map((id) => refused(id, `function "x" says "${id}": no`));
    expect(refusalLines(outcomes)).toEqual(
      outcomes.map((outcome) => (outcome.kind === "done" ? "" : outcome.sentence)),
    );
    const same = ["a", "b"].map((id) => refused(id, 'function "x": gone'));
    expect(refusalLines(same)).toEqual(['2 refused: function "x": gone (a, b)']);
  });

  test("that do not name the call are taken as they are", () => {
    const outcomes: LetterOutcome[] = ["a", "b"].map((callId) => ({ kind: "refused", callId, sentence: "Too many" }));
    expect(refusalLines(outcomes)).toEqual(["2 refused: Too many (a, b)"]);
  });
});
