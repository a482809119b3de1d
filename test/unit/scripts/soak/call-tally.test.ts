import { beforeEach, describe, expect, test } from "vitest";

import { CallTally } from "../../../../scripts/soak/million/call-tally.ts";

const done = { state: "done", retries: 0 } as const;

let tally: CallTally;

/** Calls 0 to 2 are accepted, run and end; 3 is refused and not sent again. */
beforeEach(() => {
  tally = new CallTally(4);
  for (const call of [0, 1, 2]) {
    tally.sent(call);
    tally.answered(call, "accepted");
    tally.started(call);
    tally.ended(call, done);
  }
  tally.sent(3);
  tally.answered(3, "refused");
});

const list = (call: number, over: object = {}): void => tally.listed({ callId: tally.idOf(call), ...done, ...over });
const violations = (): readonly string[] => tally.sum({ extraRuns: 0 }).violations;

describe("the calls that a history lists", () => {
  test("are those that were accepted, as they ended", () => {
    for (const call of [2, 1, 0]) list(call);
    expect(tally.sum({ extraRuns: 0 })).toMatchObject({ accepted: 3, listed: 3, violations: [] });
  });

  test("lack none", () => {
    list(2);
    list(0);
    expect(violations()).toEqual([`history: 1 accepted calls that it does not list: ${tally.idOf(1)}`]);
  });

  test("are no others", () => {
    for (const call of [3, 2, 1, 0]) list(call);
    expect(violations()).toEqual([`history: 1 calls that it lists and that were not accepted: ${tally.idOf(3)}`]);
  });

  test.each([
    ["twice", () => list(1)],
    ["of another run", () => tally.listed({ callId: "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10", ...done })],
  ])("are not wrong: %s", (_, listWrongly) => {
    for (const call of [2, 1, 0]) list(call);
    listWrongly();
    expect(violations()).toEqual([
      expect.stringMatching(/^history: 1 calls that it lists otherwise than they ended: /),
    ]);
  });

  test.each([{ state: "running" }, { state: "unknown" }, { retries: 1 }])("have not ended otherwise: %o", (over) => {
    list(2);
    list(1, over);
    list(0);
    expect(violations()).toEqual([`history: 1 calls that it lists otherwise than they ended: ${tally.idOf(1)}`]);
  });
});
