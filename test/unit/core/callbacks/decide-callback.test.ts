import { expect, test } from "vitest";

import {
  attemptsByAge,
  callbackUntil,
  callbackAfter,
  isTooDeep,
  judgeCallback,
} from "../../../../runtime/core/callbacks/decide-callback.ts";
import type { CallbackState } from "../../../../runtime/core/calls/call-entry.ts";
import type { CallbackOutcome } from "../../../../runtime/core/ports/callback-sender.ts";

const now = 1_800_000_000_000;
const minute = 60_000;
const times = { minWait: 500, maxWait: minute, window: 15 * minute };
const pending: CallbackState = { url: "http://x/", state: "pending", attempts: 0, first: now };
const most = (): number => 1;

function response(status: number, retryAfter?: string): CallbackOutcome {
  return { kind: "responded", status, retryAfter };
}
function judge(outcome: CallbackOutcome, state: Partial<CallbackState> = {}) {
  return judgeCallback(outcome, { ...pending, ...state }, now, times, most);
}

test.each([200, 201, 204, 299])("%i: sent", (status) => {
  expect(judge(response(status))).toEqual({ kind: "sent", status });
});

test.each([400, 401, 403, 404, 410, 422, 499])("%i: failed for good", (status) => {
  expect(judge(response(status))).toMatchObject({ kind: "failed", status });
});

test.each([301, 302, 307, 308, 408, 425, 429, 500, 503, 599])("%i: retry", (status) => {
  expect(judge(response(status))).toEqual({ kind: "retry", status, delay: 500, error: `answered ${status}` });
});

test("unreachable: retry; an address that is not allowed: failed for good", () => {
  expect(judge({ kind: "unreachable", error: "refused" })).toEqual({
    kind: "retry",
    status: undefined,
    delay: 500,
    error: "refused",
  });
  expect(judge({ kind: "forbidden", error: "not public" })).toEqual({
    kind: "failed",
    status: undefined,
    error: "not public",
  });
});

test("delays double from half a second to a minute", () => {
  const delays = [0, 1, 2, 6, 7, 20, 999].map((attempts) => judge(response(500), { attempts }));
  expect(delays.map((verdict) => (verdict.kind === "retry" ? verdict.delay : 0))).toEqual([
    500, 1_000, 2_000, 32_000, 60_000, 60_000, 60_000,
  ]);
  expect(judgeCallback(response(500), pending, now, times, () => 0)).toMatchObject({ delay: 250 });
});

test.each([
  ["30", 30_000],
  ["300", 300_000],
  ["9999", 300_000],
  ["0", 500],
  ["soon", 500],
])("Retry-After %j: %i ms", (value, delay) => {
  expect(judge(response(503, value))).toEqual({ kind: "retry", status: 503, delay, error: "answered 503" });
});

test("the window runs from the first attempt; there is no attempt after it", () => {
  const ago = (passed: number) => judge(response(500), { first: now - passed });
  expect(ago(15 * minute - 500)).toMatchObject({ kind: "retry" });
  expect(ago(15 * minute - 499)).toMatchObject({ kind: "failed", status: 500 });
  expect(judge({ kind: "unreachable", error: "refused" }, { first: now - 16 * minute })).toMatchObject({
    kind: "failed",
    error: "refused",
  });
  expect(judge(response(200), { first: now - 60 * minute })).toMatchObject({ kind: "sent" });
  expect(judge(response(503, "300"), { first: now - 11 * minute })).toMatchObject({ kind: "failed" });
});

test("a chain of callbacks ends at depth 16", () => {
  expect([0, 15, 16, 999_999].map(isTooDeep)).toEqual([false, false, true, true]);
});

test.each([
  [-5, 0],
  [0, 0],
  [499, 0],
  [500, 1],
  [1_500, 2],
  [3_500, 3],
  [60_000, 6],
])("an entry of age %i ms without a record had %i attempts", (age, attempts) => {
  expect(attemptsByAge(age, { minWait: 500 })).toBe(attempts);
});

test.each([199, 300, 304])("%i is no success: retry", (status) => {
  expect(judge(response(status))).toEqual({ kind: "retry", status, delay: 500, error: `answered ${status}` });
});

test("a final failure names the status of the response", () => {
  expect(judge(response(404))).toEqual({ kind: "failed", status: 404, error: "answered 404" });
  expect(judge(response(500), { first: now - 16 * minute })).toMatchObject({ error: "answered 500" });
});

const at = { startedAt: now - 30, now: now + 5, first: now, until: now + 15 * minute };

test("the record says why an attempt failed and when the next one is due", () => {
  const verdict = { kind: "retry", delay: 500, status: 503, error: "answered 503" } as const;
  expect(callbackAfter(pending, verdict, at)).toEqual({
    url: "http://x/",
    state: "pending",
    attempts: 1,
    first: now,
    until: now + 15 * minute,
    status: 503,
    error: "answered 503",
    next: now + 505,
    tries: [{ number: 1, at: now - 30, ms: 35, status: 503, error: "answered 503" }],
  });
});

test("the last eight tries stay, each with its own status and a short error", () => {
  let state = pending;
  for (let count = 0; count < 9; count += 1)
    state = callbackAfter(state, { kind: "retry", delay: 1, status: undefined, error: "refused ".repeat(20) }, at);
  const sent = callbackAfter({ ...state, status: 503 }, { kind: "sent", status: 204 }, at);
  expect(sent.tries?.map(({ number }) => number)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
  expect(sent.tries?.at(-1)).toEqual({ number: 10, at: now - 30, ms: 35, status: 204 });
  for (const { error = "", status } of sent.tries?.slice(0, -1) ?? []) {
    expect(Buffer.byteLength(JSON.stringify(error)) - 2).toBeLessThanOrEqual(48);
    expect(error.startsWith("refused ")).toBe(true);
    expect(status).toBeUndefined();
  }
});

test("a status stays while there is no response; a sent callback has no error, a failed one no next attempt", () => {
  const before: CallbackState = { ...pending, attempts: 1, status: 503, error: "answered 503", next: now };
  const refused = { kind: "retry", delay: 1_000, status: undefined, error: "refused" } as const;
  expect(callbackAfter(before, refused, at)).toMatchObject({ status: 503, error: "refused", next: now + 1_005 });
  const sent = callbackAfter(before, { kind: "sent", status: 204 }, at);
  expect(sent).toMatchObject({ state: "sent", attempts: 2, status: 204 });
  for (const gone of ["error", "next"]) expect(sent).not.toHaveProperty(gone);
  const failed = callbackAfter(before, { kind: "failed", status: 410, error: "answered 410" }, at);
  expect(failed).toMatchObject({ state: "failed", status: 410, error: "answered 410" });
  expect(failed).not.toHaveProperty("next");
});

test("an error takes at most 256 bytes of the record", () => {
  const verdict = { kind: "failed", status: undefined, error: "\u0001ä".repeat(1_000) } as const;
  const { error = "" } = callbackAfter(pending, verdict, at);
  expect(Buffer.byteLength(JSON.stringify(error)) - 2).toBeLessThanOrEqual(256);
  expect(error.endsWith("…")).toBe(true);
});

test("a callback that cannot be signed now is tried again", () => {
  const error = 'secret "stripe" cannot be used: it does not exist';
  expect(judgeCallback({ kind: "unsigned", error }, pending, now, times, most)).toEqual({
    kind: "retry",
    status: undefined,
    delay: 500,
    error,
  });
});

test("a callback is over one lease after its window", () => {
  expect(callbackUntil(now, times, 30_000)).toBe(now + 15 * minute + 30_000);
});
