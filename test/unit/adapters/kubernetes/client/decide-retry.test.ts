import { describe, expect, test } from "vitest";

import {
  decideRetry,
  mayHaveTakenEffect,
  type Outcome,
} from "../../../../../runtime/adapters/kubernetes/client/decide-retry.ts";
import { RetryPace } from "../../../../../runtime/adapters/kubernetes/client/retry-pace.ts";

const limits = { attempts: 5, retryWindow: 5_000, firstDelay: 250, longestDelay: 4_000 };
const refused = (status: number, retryAfter?: number): Outcome => ({
  kind: "refused",
  refusal: { status, reason: "", message: "", causes: [], ...(retryAfter === undefined ? {} : { retryAfter }) },
});
const away = (sent: boolean): Outcome => ({ kind: "away", sent });
const decide = (outcome: Outcome, facts: Partial<Parameters<typeof decideRetry>[1]> = {}) =>
  decideRetry(outcome, { attempt: 1, elapsed: 0, repeatable: true, ...facts }, limits, () => 1);

test("a transient failure is retried, each time after a longer delay", () => {
  const waits = [1, 2, 3, 4].map((attempt) => decide(refused(503), { attempt }));
  expect(waits).toEqual([250, 500, 1_000, 2_000].map((after) => ({ kind: "again", after })));
  for (const outcome of [refused(429), refused(500), refused(502), refused(504), away(true), away(false)])
    expect(decide(outcome)).toEqual({ kind: "again", after: 250 });
});

test("a lasting failure is not retried, nor one after too many attempts or too much time", () => {
  for (const status of [301, 400, 401, 403, 404, 409, 410, 413, 422, 501]) {
    expect(decide(refused(status)), String(status)).toEqual({ kind: "leave" });
  }
  expect(decide({ kind: "done" })).toEqual({ kind: "leave" });
  expect(decide(refused(503), { attempt: 5 })).toEqual({ kind: "leave" });
  expect(decide(refused(503), { elapsed: 4_900 })).toEqual({ kind: "leave" });
});

test("Retry-After is obeyed plus a margin; when it is too long there is no retry", () => {
  expect(decide(refused(429, 1_000))).toEqual({ kind: "again", after: 1_100 });
  expect(decide(refused(429, 100))).toEqual({ kind: "again", after: 250 });
  expect(decide(refused(429, 6_000))).toEqual({ kind: "leave" });
});

test("a request that may have taken effect is retried only where it is repeatable", () => {
  for (const outcome of [refused(500), refused(504), away(true)]) {
    expect(mayHaveTakenEffect(outcome)).toBe(true);
    expect(decide(outcome, { repeatable: false })).toEqual({ kind: "leave" });
  }
  for (const outcome of [refused(429), away(false)]) {
    expect(mayHaveTakenEffect(outcome)).toBe(false);
    expect(decide(outcome, { repeatable: false })).toMatchObject({ kind: "again" });
  }
});

describe("the pace of retries", () => {
  test("allows a burst, then so many a second; a success returns more than it took", async () => {
    let now = 0;
    const pace = new RetryPace({ perSecond: 4, burst: 2 }, () => now);
    expect(await pace.turn(undefined, 0)).toBe(true);
    expect(await pace.turn(undefined, 0)).toBe(true);
    expect(await pace.turn(undefined, 0)).toBe(false);
    now += 250;
    expect(await pace.turn(undefined, 0)).toBe(true);
    expect(await pace.turn(undefined, 0)).toBe(false);
    pace.succeeded();
    expect(await pace.turn(undefined, 0)).toBe(true);
    expect(await pace.turn(undefined, 0)).toBe(true);
    expect(await pace.turn(undefined, 0)).toBe(false);
  });

  test("can be waited for until the signal aborts", async () => {
    const pace = new RetryPace({ perSecond: 0.001, burst: 1 });
    expect(await pace.turn(undefined)).toBe(true);
    const stop = new AbortController();
    const waiting = pace.turn(stop.signal);
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });
});
