import { describe, expect, test } from "vitest";

import type { FunctionDeployment } from "../../../../runtime/api/schemas/function-deployment.ts";
import type { ExaminedFunction } from "../../../../runtime/core/doctor/doctor-facts.ts";
import { judgeTimeouts } from "../../../../runtime/core/doctor/judge-timeouts.ts";
import { sampleQueue } from "../../../contract/samples.ts";
import { examinedFunction } from "../../../support/examined-function.ts";

const times = {
  upstreamTimeout: 30_000,
  timeoutMax: 3_600_000,
  wakeTimeout: 60_000,
  drainTimeout: 3_600_000,
  callMaxAge: 604_800_000,
};
const queues = [sampleQueue(), sampleQueue({ name: "slow", timeout: 300_000 })];
const withTimes = (exec: string | undefined, timeout?: string, queue?: string): Partial<FunctionDeployment> => ({
  ...(exec === undefined ? {} : { envVars: { exec_timeout: exec } }),
  annotations: {
    ...(timeout === undefined ? {} : { "com.service.timeout": timeout }),
    ...(queue === undefined ? {} : { "com.service.queue": queue }),
  },
});
const judge = (functions: readonly ExaminedFunction[], over: Partial<typeof times> = {}) =>
  judgeTimeouts(functions, { ...times, ...over }, queues);
const judgeOne = (deployment: Partial<FunctionDeployment>) => judge([examinedFunction(deployment)]);

describe("no limit cuts another", () => {
  test.each([
    ["without limits of its own", withTimes(undefined)],
    ["with a timeout of its own", withTimes(undefined, "2m")],
    ["that ends itself before the platform's default", withTimes("5s")],
    ["whose exec_timeout leaves its timeout a second", withTimes("19s", "20s")],
    ["that says no exec_timeout", withTimes("0", "20s")],
    ["whose timeout is just timeout_max", withTimes(undefined, "1h")],
    ["whose exec_timeout is just the platform's default", withTimes("30s")],
    ["whose queue is not declared", withTimes("4m", undefined, "gone")],
    ["with annotations that nobody can read", { annotations: { "com.service.timeout": "soon" } }],
  ])("of a function %s", (_name, deployment) => {
    expect(judgeOne(deployment)).toEqual([
      {
        id: "timeouts",
        level: "ok",
        subject: "timeouts",
        sentence: "No limit of a call cuts another: upstream_timeout 30s, wake_timeout 1m, timeout_max 1h",
      },
    ]);
  });
});

describe("a limit that is cut is shown with the chain, the smallest first and marked", () => {
  test.each([
    [
      "exec_timeout before the function's own timeout",
      withTimes("5s", "20s"),
      "problem",
      "exec_timeout 5s ends every call after 6s, before com.service.timeout 20s: exec_timeout 5s (smallest) < com.service.timeout 20s < timeout_max 1h",
      "set exec_timeout to 19s, or com.service.timeout to 6s",
    ],
    [
      "timeout_max before the function's own timeout",
      withTimes(undefined, "2h"),
      "problem",
      "timeout_max 1h ends every call before com.service.timeout 2h: timeout_max 1h (smallest) < com.service.timeout 2h",
      "raise timeout_max to 2h, or lower com.service.timeout",
    ],
    [
      "the platform and the queue before exec_timeout",
      withTimes("4m"),
      "problem",
      'upstream_timeout 30s ends every call before exec_timeout 4m is over: upstream_timeout 30s (smallest) < timeout of queue "default" 30s < exec_timeout 4m',
      "set com.service.timeout to 4m1s, or exec_timeout to 30s",
    ],
    [
      "the platform before exec_timeout, for synchronous calls alone",
      withTimes("4m", undefined, "slow"),
      "warning",
      'upstream_timeout 30s ends synchronous calls before exec_timeout 4m is over; queued ones may take it: upstream_timeout 30s (smallest) < exec_timeout 4m < timeout of queue "slow" 5m',
      "set com.service.timeout to 4m1s if it is called synchronously",
    ],
    [
      "the platform before an exec_timeout that its queue just allows, for synchronous calls alone",
      withTimes("5m", undefined, "slow"),
      "warning",
      'upstream_timeout 30s ends synchronous calls before exec_timeout 5m is over; queued ones may take it: upstream_timeout 30s (smallest) < exec_timeout 5m < timeout of queue "slow" 5m',
      "set com.service.timeout to 5m1s if it is called synchronously",
    ],
  ])("%s", (_name, deployment, level, sentence, advice) => {
    expect(judgeOne(deployment)).toEqual([
      { id: "timeouts", subject: 'function "hello.functions"', level, sentence, advice },
    ]);
  });
});

test("calls that are longer than the drain are one warning, with the longest three", () => {
  const functions = ["a", "b", "c", "d", "e"].map((service, index) =>
    examinedFunction({ service, ...withTimes(undefined, `${index + 1}m`) }),
  );
  expect(judge(functions, { drainTimeout: 120_000 })).toEqual([
    {
      id: "timeouts",
      level: "warning",
      subject: "drain_timeout",
      sentence:
        'A gateway that stops cuts calls after drain_timeout 2m, before those of "e.functions" 5m, "d.functions" 4m, "c.functions" 3m are over',
      advice: "set drain_timeout to 5m",
    },
  ]);
  expect(judge(functions, { drainTimeout: 60_000 })[0]?.sentence).toMatch(/ 3m and 1 more are over$/);
  expect(judge([examinedFunction(withTimes("30s", "5m"))], { drainTimeout: 120_000 })).toMatchObject([
    { level: "problem", subject: 'function "hello.functions"' },
  ]);
});

test("a function that ends itself just before its timeout counts with its timeout", () => {
  expect(judge([examinedFunction(withTimes("2m", "2m"))], { drainTimeout: 119_500 })).toMatchObject([
    { subject: "drain_timeout", advice: "set drain_timeout to 2m" },
  ]);
});

test("of many functions the first twenty are listed, and the others are counted", () => {
  const functions = Array.from({ length: 23 }, (_, index) =>
    examinedFunction({ service: `f${index}`, ...withTimes("5s", "20s") }),
  );
  const findings = judge(functions);
  expect(findings).toHaveLength(21);
  expect(findings.at(-1)).toMatchObject({ id: "timeouts", level: "problem", subject: "3 more functions" });
});
