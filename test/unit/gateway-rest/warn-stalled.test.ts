import pino from "pino";
import { expect, test } from "vitest";

import { functionConditions, type ConditionFacts } from "../../../runtime/core/conditions.ts";
import { desireFunction } from "../../../runtime/core/desired-function.ts";
import { FunctionTable } from "../../../runtime/core/function-table.ts";
import { warnStalled } from "../../../runtime/gateway/warn-stalled.ts";

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

test("a function that stalls is logged once, and again when it did not in between", () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const table = new FunctionTable({ defaultNamespace: "functions", aliases: [] });
  warnStalled(table, log);
  table.functionObserver.set(desireFunction(undefined, "functions", { service: "hello", image: "none" }, at));
  const say = (facts: Partial<ConditionFacts>, observedGeneration: number): void => {
    const conditions = functionConditions({ ...rolling, ...facts }, [], at);
    table.endpointsObserver.set({ ...ref, addresses: ["127.0.0.1:1"], observedGeneration, conditions });
  };
  say({}, 2);
  expect(lines).toEqual([]);
  say({ backoff }, 2);
  say({ backoff: { ...backoff, failures: 3 } }, 2);
  expect(lines).toEqual([
    expect.objectContaining({
      level: 40,
      msg: "function is stalled",
      functionName: "hello",
      namespace: "functions",
      generation: 2,
      reason: "CrashLoopBackOff",
      ready: 1,
      why: backoff.last.message,
    }),
  ]);
  say({}, 3);
  say({ backoff }, 3);
  expect(lines).toHaveLength(2);
});
