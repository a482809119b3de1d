import { describe, expect, test } from "vitest";

import { decideAttempt } from "../../../../runtime/core/calls/decide-attempt.ts";

const replica = (address: string, inFlight = 0) => ({ address, name: address, inFlight });

describe("a call that was not sent yet", () => {
  test("goes to the replica with the fewest calls", () => {
    const [busy, idle] = [replica("a:1", 3), replica("b:1", 1)];
    expect(decideAttempt({ replicas: [busy, idle], turn: 0 }, 0)).toEqual({ kind: "send", replica: idle });
  });

  test("waits while no replica is ready", () => {
    expect(decideAttempt({ replicas: [], turn: 0 }, 1)).toEqual({ kind: "wait" });
  });

  test("does not wait for replicas at their limit of calls", () => {
    const replicas = [replica("a:1", 2), replica("b:1", 2)];
    const busy = decideAttempt({ replicas, turn: 0 }, 2);
    if (busy.kind !== "busy") expect.fail(busy.kind);
    expect(String(busy.state)).toBe("all 2 ready replicas are at concurrency.max of 2");
    expect(decideAttempt({ replicas, turn: 0 }, 3).kind).toBe("send");
  });
});

describe("a call whose connection was refused", () => {
  const [refusing, other] = [replica("a:1"), replica("b:1", 5)];
  const refused = { replica: refusing, before: 0, repeatable: true };

  test("goes to another replica, and never to the same", () => {
    const choice = { replicas: [refusing, other], turn: 0 };
    expect(decideAttempt(choice, 0, refused)).toEqual({ kind: "send", replica: other });
    expect(decideAttempt({ replicas: [refusing], turn: 0 }, 0, refused)).toEqual({ kind: "dead-letter" });
  });

  test("is sent again once only", () => {
    const choice = { replicas: [refusing, other], turn: 0 };
    expect(decideAttempt(choice, 0, { ...refused, before: 1 })).toEqual({ kind: "dead-letter" });
  });

  test("is not sent again once its body was read", () => {
    const choice = { replicas: [refusing, other], turn: 0 };
    expect(decideAttempt(choice, 0, { ...refused, repeatable: false })).toEqual({ kind: "dead-letter" });
  });

  test("is not sent to a replica that is busy", () => {
    expect(decideAttempt({ replicas: [refusing, other], turn: 0 }, 5, refused)).toEqual({ kind: "dead-letter" });
  });

  test("waits when that was the last replica and is gone meanwhile", () => {
    expect(decideAttempt({ replicas: [], turn: 0 }, 0, refused)).toEqual({ kind: "wait" });
    expect(decideAttempt({ replicas: [], turn: 0 }, 0, { ...refused, before: 1 })).toEqual({ kind: "dead-letter" });
  });
});
