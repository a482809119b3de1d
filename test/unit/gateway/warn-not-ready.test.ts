import pino from "pino";
import { expect, test } from "vitest";

import { functionConditions, type ConditionFacts } from "../../../runtime/core/functions/conditions.ts";
import { desireFunction } from "../../../runtime/core/functions/desired-function.ts";
import { FunctionTable } from "../../../runtime/core/replicas/function-table.ts";
import { warnNotReady } from "../../../runtime/gateway/warn-not-ready.ts";

const at = "2026-01-01T00:00:00.000Z";
const ref = { namespace: "functions", name: "hello" };
const rolling: ConditionFacts = {
  wanted: 1,
  ready: 1,
  readyCurrent: 0,
  existing: 2,
  superseded: 1,
  backoff: undefined,
  blocked: undefined,
};
const backoff = { failures: 2, until: 0, last: { reason: "Error", message: "Replica hello-2 ended with code 3" } };

const silent = { reason: "NotListening", message: "Replica hello-2 is not ready: nothing listens on port 8080" };

function watchedTable() {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const table = new FunctionTable({ defaultNamespace: "functions", aliases: [] });
  warnNotReady(table, log);
  table.functionObserver.set(desireFunction(undefined, "functions", { service: "hello", image: "none" }, at));
  const report = (facts: Partial<ConditionFacts>, observedGeneration: number): void => {
    const conditions = functionConditions({ ...rolling, ...facts }, [], at);
    table.endpointsObserver.set({ ...ref, addresses: ["127.0.0.1:1"], observedGeneration, conditions });
  };
  return { lines, report };
}

test("a function that stalls is logged once per deployment", () => {
  const { lines, report } = watchedTable();
  report({}, 2);
  expect(lines).toEqual([]);
  report({ backoff }, 2);
  report({ backoff: { ...backoff, failures: 3 } }, 2);
  expect(lines).toEqual([
    expect.objectContaining({
      level: 40,
      msg: "function is stalled",
      functionName: "hello",
      namespace: "functions",
      generation: 2,
      reason: "CrashLoopBackOff",
      ready: 1,
      detail: backoff.last.message,
    }),
  ]);
  report({}, 3);
  report({ backoff }, 3);
  expect(lines).toHaveLength(2);
});

test("a function whose replicas do not become ready is logged once, and again when it stalls", () => {
  const { lines, report } = watchedTable();
  report({ progress: { reason: "PullingImage", message: 'Pulling image "none"' } }, 2);
  expect(lines).toEqual([]);
  report({ progress: silent }, 2);
  report({}, 2);
  report({ progress: { reason: "NotReady", message: "Replica hello-3 is not ready: GET /ready answered 500" } }, 2);
  expect(lines).toEqual([
    expect.objectContaining({
      level: 40,
      msg: "function is not ready",
      functionName: "hello",
      generation: 2,
      reason: "NotListening",
      detail: silent.message,
    }),
  ]);
  report({ backoff }, 2);
  expect(lines.map(({ msg }) => msg)).toEqual(["function is not ready", "function is stalled"]);
});

test("a function that was ready in between is logged again", () => {
  const { lines, report } = watchedTable();
  report({ progress: silent }, 2);
  report({ readyCurrent: 1, existing: 1, superseded: 0 }, 2);
  report({ progress: silent }, 2);
  expect(lines).toHaveLength(2);
});

test("a function that a cluster calls unhealthy is logged at its first failure", () => {
  const { lines, report } = watchedTable();
  report({ backoff: { ...backoff, failures: 1, last: { reason: "Unhealthy", message: "Replica p is not ready" } } }, 2);
  expect(lines).toEqual([expect.objectContaining({ msg: "function is not ready", detail: "Replica p is not ready" })]);
});
