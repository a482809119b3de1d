import { describe, expect, test } from "vitest";

import type { Condition } from "../../../../runtime/api/schemas/function-status.ts";
import type { ExaminedFunction } from "../../../../runtime/core/doctor/doctor-facts.ts";
import { judgeFunctions } from "../../../../runtime/core/doctor/judge-functions.ts";
import { deployedAt, examinedFunction } from "../../../support/examined-function.ts";

const wakeTimeout = 60_000;
const after = (seconds: number): number => Date.parse(deployedAt) + seconds * 1_000;
const judge = (functions: readonly ExaminedFunction[], seconds = 300) =>
  judgeFunctions(functions, wakeTimeout, after(seconds));

function condition(type: Condition["type"], status: Condition["status"], over: Partial<Condition> = {}): Condition {
  return { type, status, reason: "Error", message: "It ended with 3", lastTransitionTime: deployedAt, ...over };
}

function reported(addresses: readonly string[], ...conditions: readonly Condition[]): Partial<ExaminedFunction> {
  return { endpoints: { name: "hello", namespace: "functions", addresses, observedGeneration: 1, conditions } };
}

describe("the state of functions", () => {
  test("is ok when each is ready, or scaled to zero", () => {
    const asleep = examinedFunction({ service: "asleep" }, { ...reported([]), wants: { replicas: 0 } });
    expect(judge([])).toEqual([{ id: "functions", level: "ok", subject: "functions", sentence: "There is none" }]);
    expect(judge([examinedFunction()])).toMatchObject([{ level: "ok", sentence: "1 can be called" }]);
    expect(judge([examinedFunction(), asleep])).toMatchObject([
      { level: "ok", sentence: "2 can be called, 1 of them scaled to zero" },
    ]);
  });

  test("Stalled is a problem, with the condition's message, whether an older deployment serves or not", () => {
    for (const addresses of [[], ["127.0.0.1:1"]]) {
      const stalled = examinedFunction({}, reported(addresses, condition("Stalled", "True")));
      expect(judge([stalled])).toEqual([
        {
          id: "functions",
          level: "problem",
          subject: 'function "hello.functions"',
          sentence: "Stalled (Error): It ended with 3",
          advice: "look at weir describe hello.functions",
        },
      ]);
    }
  });

  test("none ready is a warning while it may start, and a problem after wake_timeout", () => {
    const conditions = [condition("Ready", "False"), condition("Stalled", "False")];
    const starting = examinedFunction({}, reported([], ...conditions));
    expect(judge([starting], 60)).toMatchObject([
      { level: "warning", sentence: "None of 1 replicas is ready, for 1m", advice: "wait until it has started" },
    ]);
    expect(judge([starting], 61)).toMatchObject([
      { level: "problem", sentence: "None of 1 replicas is ready, for 1m1s" },
    ]);
  });

  test("time without a ready replica counts from when the last one was lost, whatever else changed since", () => {
    const later = (type: Condition["type"], seconds: number) =>
      condition(type, "False", { lastTransitionTime: new Date(after(seconds)).toISOString() });
    const lost = examinedFunction({}, reported([], later("Healthy", 290), later("Ready", 280), later("Stalled", 295)));
    expect(judge([lost])).toMatchObject([{ level: "warning", sentence: "None of 1 replicas is ready, for 20s" }]);
  });

  test("a replica that does not become ready says why", () => {
    const silent = condition("Reconciling", "True", { reason: "NotListening", message: "Nothing listens on 8080" });
    const found = judge([examinedFunction({}, reported([], condition("Ready", "False"), silent))]);
    expect(found).toMatchObject([{ sentence: "None of 1 replicas is ready, for 5m: Nothing listens on 8080" }]);
  });

  test("a function that is woken just now counts from then, not from its deployment", () => {
    const scaled = { reason: "Call", message: "A call", at: new Date(after(299)).toISOString() };
    const woken = examinedFunction({}, { ...reported([], condition("Ready", "True")), wants: { scaled } });
    expect(judge([woken])).toMatchObject([{ level: "warning", sentence: "None of 1 replicas is ready, for 1s" }]);
    const silent = examinedFunction({}, { endpoints: undefined });
    expect(judge([silent])).toMatchObject([{ level: "problem", sentence: "None of 1 replicas is ready, for 5m" }]);
  });

  test("annotations that cannot be used are a problem: its calls are refused", () => {
    const found = judge([examinedFunction({ annotations: { "com.service.timeout": "soon" } })]);
    expect(found).toMatchObject([
      {
        id: "functions",
        level: "problem",
        sentence: expect.stringMatching(/^Its calls are refused: .*"soon"/),
        advice: "correct its annotations and deploy it again",
      },
    ]);
  });

  test("of many functions the others are counted", () => {
    const silent = Array.from({ length: 22 }, () => examinedFunction({}, { endpoints: undefined }));
    expect(judge(silent).at(-1)).toMatchObject({ id: "functions", subject: "2 more functions" });
  });
});

describe("a start", () => {
  const zero = { labels: { "com.service.scale.zero": "true" } };

  test.each([
    ["as long as half of wake_timeout is ok", zero, 30_000, []],
    ["that is longer is a problem if callers wait for it", zero, 30_001, ["problem"]],
    ["that is longer is a warning if they do not", {}, 45_000, ["warning"]],
  ])("%s", (_name, deployment, lastStart, levels) => {
    const found = judge([examinedFunction(deployment, { lastStart })]).filter(({ id }) => id === "starts");
    expect(found.map(({ level }) => level)).toEqual(levels);
    for (const { sentence } of found) expect(sentence).toMatch(/^Its last start took \d+s, more than half of .* 1m$/);
  });

  test.each([
    [
      "of a function that is scaled to zero",
      zero,
      'make it start faster, raise wake_timeout, or keep a replica of "hello" without com.service.scale.zero',
    ],
    ["of another one", {}, "make it start faster, or raise wake_timeout"],
  ])("%s that takes long asks for a faster one, or for more time", (_name, deployment, advice) => {
    expect(judge([examinedFunction(deployment, { lastStart: 45_000 })]).at(-1)).toMatchObject({
      subject: 'function "hello.functions"',
      sentence: "Its last start took 45s, more than half of wake_timeout 1m",
      advice,
    });
  });

  test("of many functions the others are counted", () => {
    const slow = Array.from({ length: 22 }, () => examinedFunction({}, { lastStart: 45_000 }));
    expect(judge(slow).at(-1)).toMatchObject({ id: "starts", subject: "2 more functions" });
  });
});
