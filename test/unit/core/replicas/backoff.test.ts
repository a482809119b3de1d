import { expect, test } from "vitest";

import { backOffRestart, type Backoff } from "../../../../runtime/core/replicas/reconcile-backoff.ts";
import { longestCallOf, replicaGrace } from "../../../../runtime/core/replicas/reconcile-grace.ts";

const failure = { reason: "Error", message: "It ended" };

test("waits 0.5 s, doubling to 30 s", () => {
  let backoff: Backoff | undefined;
  let now = 0;
  const delays = Array.from({ length: 9 }, () => {
    backoff = backOffRestart(backoff, failure, { now, readyFor: 0, jitter: 1 });
    const delay = backoff.until - now;
    now = backoff.until;
    return delay;
  });

  expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

test("jitter shortens it by up to a quarter", () => {
  expect(backOffRestart(undefined, failure, { now: 0, readyFor: 0, jitter: 0 }).until).toBe(375);
});

test("resets after 60 s of readiness", () => {
  const seventh = { failures: 7, until: 10, last: failure };

  expect(backOffRestart(seventh, failure, { now: 100_000, readyFor: 59_999, jitter: 1 }).failures).toBe(8);
  expect(backOffRestart(seventh, failure, { now: 100_000, readyFor: 60_000, jitter: 1 })).toEqual({
    failures: 1,
    until: 100_500,
    last: failure,
  });
});

test("several replicas that end together count once", () => {
  const first = backOffRestart(undefined, failure, { now: 0, readyFor: 0, jitter: 1 });
  const other = { reason: "Other", message: "Another one" };

  expect(backOffRestart(first, other, { now: 10, readyFor: 0, jitter: 1 })).toEqual({ ...first, last: other });
});

test.each([
  [undefined, 31_000],
  [{ exec_timeout: "10s" }, 12_000],
  [{ exec_timeout: "0" }, 31_000],
  [{ exec_timeout: "soon" }, 31_000],
])("the grace with envVars %j is %i ms", (envVars, grace) => {
  expect(replicaGrace(envVars === undefined ? {} : { envVars }, 30_000)).toBe(grace);
});

test.each<[timeout: string, envVars: Readonly<Record<string, string>>, grace: number]>([
  ["40s", {}, 41_000],
  // Runs from a queue may still take as long as the others.
  ["10s", {}, 31_000],
  ["40s", { exec_timeout: "35s" }, 37_000],
  ["40s", { exec_timeout: "soon" }, 41_000],
  ["soon", { exec_timeout: "10s" }, 12_000],
])("the grace with a timeout of %s and envVars %j is %i ms", (timeout, envVars, grace) => {
  expect(replicaGrace({ annotations: { "com.service.timeout": timeout }, envVars }, 30_000)).toBe(grace);
});

test.each<[timeout: string | undefined, longest: number]>([
  [undefined, 30_000],
  ["40s", 40_000],
  ["10s", 30_000],
  ["soon", 30_000],
])("with a timeout of %s a call may take %i ms, whatever its exec_timeout", (timeout, longest) => {
  const annotations = timeout === undefined ? {} : { "com.service.timeout": timeout };
  expect(longestCallOf({ annotations, envVars: { exec_timeout: "5s" } }, 30_000)).toBe(longest);
});
