import { describe, expect, test } from "vitest";

import { checkInvariants, type Allowance, type Facts, type SettledCall } from "../../support/ledger-invariants.ts";
import type { AnswerClass, CallbackReceived, Run, Sent } from "../../support/ledger.ts";

const done: SettledCall = { state: "done", retries: 0 };

function sent(id: string, more: Partial<Sent> = {}): Sent {
  const accepted: AnswerClass = "accepted";
  return { kind: "sent", id, sequence: 0, class: accepted, sentAt: 0, answeredAt: 1, callback: false, ...more };
}

function run(id: string, at = 10): Run {
  return { run: `${id} ${at}`, id, at, endedAt: at + 1, status: 200 };
}

function callback(id: string, status?: number): CallbackReceived {
  return {
    kind: "callback",
    id,
    at: 0,
    headers: {},
    bodyHash: "",
    bodySize: 0,
    ...(status === undefined ? {} : { answered: status }),
  };
}

function facts(
  some: Partial<Omit<Facts, "statuses">> & { readonly statuses?: Readonly<Record<string, SettledCall>> },
): Facts {
  return { sent: [], runs: [], callbacks: [], ...some, statuses: new Map(Object.entries(some.statuses ?? {})) };
}

function violated(some: Parameters<typeof facts>[0], allowance?: Allowance): string[] {
  return checkInvariants(facts(some), allowance).violations.map(({ sentence }) => sentence);
}

describe("checkInvariants", () => {
  test("finds nothing wrong with calls that all ran once and were called back once", () => {
    const { violations, counts } = checkInvariants(
      facts({
        sent: [sent("a", { callback: true }), sent("b", { class: "refused" })],
        runs: [run("a")],
        callbacks: [callback("a", 500), callback("a", 200)],
        statuses: { a: done },
      }),
    );

    expect(violations).toEqual([]);
    expect(counts).toEqual({ accepted: 1, refused: 1, unknown: 0, extraRuns: 0, extraCallbacks: 0, unknownThatRan: 0 });
  });

  test("I1: an accepted call without an end is lost", () => {
    expect(violated({ sent: [sent("a"), sent("b")], statuses: { b: { state: "running", retries: 0 } } })).toEqual([
      "I1: 2 accepted calls without an end: a (no record), b (running)",
      "I10: 2 accepted calls on whose end record and status route disagree: a (record absent, status route absent), b (record running, status route running)",
    ]);
  });

  test("I2: a finished call's callback must have come, unless its receiver was down", () => {
    const missing = {
      sent: [sent("a", { callback: true }), sent("b", { callback: true })],
      callbacks: [callback("a", 500)],
      statuses: { a: done, b: { state: "cancelled", retries: 0 } },
    } as const;

    expect(violated(missing)).toEqual(["I2: 1 callbacks that never arrived: a"]);
    expect(violated(missing, { callbacksDue: false })).toEqual([]);
  });

  test("I3: more runs than retries explain are extra, also of unknown calls", () => {
    const twice = {
      sent: [sent("a"), sent("b"), sent("c", { class: "unknown" })],
      runs: [run("a"), run("a", 20), run("b"), run("b", 20), run("c"), run("c", 20)],
      statuses: { a: { state: "done", retries: 1 }, b: done },
    } as const;

    expect(violated(twice)).toEqual(["I3: 2 extra runs: b, c"]);
    expect(violated(twice, { extraRuns: 1 })).toEqual(["I3: 2 extra runs, at most 1 allowed: b, c"]);
    expect(violated(twice, { extraRuns: 2 })).toEqual([]);
    expect(checkInvariants(facts(twice)).counts.unknownThatRan).toBe(1);
  });

  test("I4: callbacks after one that was accepted are extra, and so are all of a cancelled call", () => {
    const again = {
      sent: [sent("a", { callback: true }), sent("b", { callback: true })],
      callbacks: [callback("a"), callback("a", 204), callback("a", 500), callback("b", 200)],
      statuses: { a: done, b: { state: "cancelled", retries: 0 } },
    } as const;

    expect(violated(again)).toEqual(["I4: 2 extra callbacks: a, b"]);
    expect(violated(again, { extraCallbacks: 2 })).toEqual([]);
  });

  test("I5: a refused call must not run", () => {
    expect(violated({ sent: [sent("a", { class: "refused" })], runs: [run("a")] })).toEqual([
      "I5: 1 refused calls that ran: a",
    ]);
    const again = { sent: [sent("a", { class: "refused" }), sent("a")], runs: [run("a")], statuses: { a: done } };
    expect(violated(again)).toEqual([]);
  });

  test("I7: a call sent after another's 202 must not start before it; overlapping ones may", () => {
    const overtaken = {
      sent: [sent("a", { answeredAt: 5 }), sent("b", { sentAt: 6, answeredAt: 7 })],
      runs: [run("b", 10), run("a", 20)],
      statuses: { a: done, b: done },
    };

    expect(violated(overtaken)).toEqual([]);
    expect(violated(overtaken, { inOrder: true })).toEqual(["I7: 1 calls that started out of order: b"]);
    const overlapping = { ...overtaken, sent: [sent("a", { answeredAt: 6.5 }), sent("b", { sentAt: 6 })] };
    expect(violated(overlapping, { inOrder: true })).toEqual([]);
    const retried = { ...overtaken, statuses: { a: { state: "done", retries: 1 }, b: done } } as const;
    expect(violated(retried, { inOrder: true })).toEqual([]);
  });

  test("I10: record and status route must agree", () => {
    const records = new Map<string, SettledCall>([["a", { state: "failed", retries: 0 }]]);

    expect(violated({ sent: [sent("a")], statuses: { a: done }, records })).toEqual([
      "I10: 1 accepted calls on whose end record and status route disagree: a (record failed, status route done)",
    ]);
  });

  test("names five ids at most", () => {
    const many = Array.from({ length: 7 }, (_, index) => sent(`c${index}`, { class: "refused" }));

    expect(violated({ sent: many, runs: many.map(({ id }) => run(id)) })).toEqual([
      "I5: 7 refused calls that ran: c0, c1, c2, c3, c4, …",
    ]);
  });
});
