import { describe, expect, test } from "vitest";

import { judgeRun, runStatus, type RunOutcome } from "../../../../runtime/core/calls/judge-run.ts";
import { retryCodes } from "../../../../runtime/core/queues/queue-defaults.ts";

const rules = { attempts: 10, codes: retryCodes, minWait: 10_000, maxWait: 120_000 };
const most = (): number => 1;

function response(status: number, headers: readonly string[] = []): RunOutcome {
  return { kind: "responded", status, headers, body: Buffer.from("x"), size: 1, duration: 5 };
}

test.each([200, 204, 301, 399])("status %i is done", (status) => {
  expect(judgeRun(response(status), rules, 0)).toEqual({ kind: "done", status });
});

test.each([408, 429, 500, 502, 503, 504])("status %i is retried", (status) => {
  expect(judgeRun(response(status), rules, 0, most)).toEqual({
    kind: "retry",
    status,
    delay: 10_000,
    error: undefined,
  });
});

test.each([400, 401, 403, 404, 409, 418, 501, 505, 599])("status %i is final", (status) => {
  expect(judgeRun(response(status), rules, 0)).toEqual({
    kind: "failed",
    status,
    reason: "rejected",
    error: undefined,
  });
});

test.each<[what: string, status: number, outcome: RunOutcome]>([
  ["a connection reset", 502, { kind: "unreachable", error: "reset", sent: true, duration: 1 }],
  ["a refused connection", 502, { kind: "unreachable", error: "refused", sent: false, duration: 1 }],
  ["no replica", 503, { kind: "no-replica", error: "scaled-to-zero", duration: 1 }],
  ["no response in time", 504, { kind: "timed-out", duration: 1 }],
])("%s counts as %i and is retried, whatever the codes", (_what, status, outcome) => {
  const verdict = judgeRun(outcome, { ...rules, codes: [] }, 3, most);
  expect(verdict).toMatchObject({ kind: "retry", status, delay: 80_000 });
  expect(verdict).toHaveProperty("error", expect.stringMatching(/./));
  expect(judgeRun(outcome, rules, 10)).toMatchObject({ kind: "failed", status, reason: "exhausted" });
});

test("a 5xx of the platform is retried even if its code is not listed; a 4xx is not", () => {
  const made = ["X-OpenFaaS-Internal", "gateway"];
  expect(judgeRun(response(501, made), rules, 0)).toMatchObject({ kind: "retry", status: 501 });
  expect(judgeRun(response(501, ["x-openfaas-internal", ""]), rules, 0)).toMatchObject({ kind: "retry" });
  expect(judgeRun(response(404, made), rules, 0)).toMatchObject({ kind: "failed", reason: "rejected" });
});

test("a deleted function fails for good", () => {
  expect(judgeRun({ kind: "function-gone", duration: 0 }, rules, 0)).toMatchObject({
    kind: "failed",
    status: 404,
    reason: "function_not_found",
    error: "the function was deleted",
  });
});

test("a run that was aborted from outside gives no verdict", () => {
  expect(judgeRun({ kind: "aborted", duration: 1 }, rules, 0)).toEqual({ kind: "none" });
});

test("attempts are retries: ten of them make eleven runs", () => {
  for (let retries = 0; retries < 10; retries++) expect(judgeRun(response(500), rules, retries).kind).toBe("retry");
  expect(judgeRun(response(500), rules, 10)).toMatchObject({ kind: "failed", reason: "exhausted", status: 500 });
  expect(judgeRun(response(500), { ...rules, attempts: 0 }, 0)).toMatchObject({ kind: "failed", reason: "exhausted" });
});

describe("Retry-After", () => {
  test.each([429, 503])("on %i replaces the wait", (status) => {
    expect(judgeRun(response(status, ["Retry-After", "90"]), rules, 0)).toMatchObject({ kind: "retry", delay: 90_000 });
  });
  test.each([408, 500, 502, 504])("on %i is ignored", (status) => {
    expect(judgeRun(response(status, ["Retry-After", "90"]), rules, 0, most)).toMatchObject({
      kind: "retry",
      delay: 10_000,
    });
  });
  test("is at least the minimum wait, at most an hour, and ignored when unreadable", () => {
    const delayOf = (value: string) => judgeRun(response(503, ["retry-after", value]), rules, 0, most);
    expect(delayOf("1")).toMatchObject({ delay: 10_000 });
    expect(delayOf("999999")).toMatchObject({ delay: 3_600_000 });
    expect(delayOf("soon")).toMatchObject({ delay: 10_000 });
    expect(delayOf("-5")).toMatchObject({ delay: 10_000 });
  });
});

test("a 500 of the platform is retried, whatever the codes", () => {
  const outcome = response(500, ["X-OpenFaaS-Internal", "gateway"]);
  expect(judgeRun(outcome, { ...rules, codes: [] }, 0)).toMatchObject({ kind: "retry", status: 500 });
});

test("the status of a run is the function's own, and 499 when it was aborted from outside", () => {
  expect(runStatus(response(207))).toBe(207);
  expect(runStatus({ kind: "aborted", duration: 1 })).toBe(499);
  expect(judgeRun({ kind: "aborted", duration: 1 }, rules, 0)).toEqual({ kind: "none" });
});
