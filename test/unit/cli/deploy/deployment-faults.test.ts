import { describe, expect, test } from "vitest";

import type { FunctionDeployment } from "../../../../runtime/api/schemas/function-deployment.ts";
import {
  deploymentFaults,
  needsLongQueue,
  type GatewayFacts,
} from "../../../../runtime/cli/deploy/plan/deployment-faults.ts";

const facts: GatewayFacts = { edition: "enterprise", secrets: new Set(["there"]), queueTimeout: () => 30_000 };
const faults = (more: Partial<FunctionDeployment>, changed: Partial<GatewayFacts> = {}) =>
  deploymentFaults({ service: "hello", image: "hello", ...more }, { ...facts, ...changed });
const states = (...args: Parameters<typeof faults>): readonly string[] => faults(...args).map(({ state }) => state);

describe("secrets", () => {
  test("that are there are fine", () => {
    expect(faults({ secrets: ["there"] })).toEqual([]);
  });

  test("that are not are all named, with the command that creates each", () => {
    expect(faults({ secrets: ["a", "there", "b"], namespace: "dev" })).toEqual([
      {
        state: 'secret "a" does not exist in namespace "dev"',
        hint: "weir secrets create a -n dev --from-file <file>",
      },
      {
        state: 'secret "b" does not exist in namespace "dev"',
        hint: "weir secrets create b -n dev --from-file <file>",
      },
    ]);
    expect(states({ secrets: ["a"] })).toEqual(['secret "a" does not exist in the default namespace']);
  });
});

describe("a queue of its own", () => {
  const annotations = { "com.service.queue": "reports" };

  test.each([
    ["enterprise", []],
    ["one-of-tomorrow", []],
    ["pro", ['queue "reports" needs edition "enterprise", and this is "pro"']],
    ["community", ['queue "reports" needs edition "enterprise", and this is "community"']],
  ])("in edition %s", (edition, expected) => {
    expect(states({ annotations }, { edition })).toEqual(expected);
  });

  test("by its other name, and the default one", () => {
    expect(states({ annotations: { "com.openfaas.queue": "reports" } }, { edition: "pro" })).toHaveLength(1);
    expect(states({ annotations: { "com.service.queue": "default" } }, { edition: "community" })).toEqual([]);
  });
});

describe("times", () => {
  const times = (exec: string, timeout?: string, queueTimeout?: number): readonly string[] =>
    states(
      {
        envVars: { exec_timeout: exec },
        ...(timeout === undefined ? {} : { annotations: { "com.service.timeout": timeout } }),
      },
      { queueTimeout: () => queueTimeout },
    );

  test.each([
    ["above both limits", "61s", "1m", 30_000, 1],
    ["at its own limit", "1m", "1m", 30_000, 0],
    ["above its own limit, but not that of the queue", "61s", "1m", 90_000, 0],
    ["above a limit that only the gateway knows", "61s", undefined, 30_000, 0],
    ["above its own limit, on a queue that the gateway does not show", "61s", "1m", undefined, 0],
    ["none", "0s", "1m", 30_000, 0],
  ])("%s", (_name, exec, timeout, queueTimeout, count) => {
    expect(times(exec, timeout, queueTimeout)).toHaveLength(count);
  });

  test("are named with their values", () => {
    expect(times("61s", "1m", 30_000)).toEqual([
      'exec_timeout 1m1s is above com.service.timeout (1m) and the timeout of queue "default" (30s); set annotation com.service.timeout to 1m1s or more',
    ]);
  });

  test.each([
    ["soon", undefined, 'exec_timeout "soon" is not a duration such as 30s'],
    ["1s", "soon", 'com.service.timeout "soon" is not a duration from 100ms to 24h'],
  ])("that cannot be read: %s, %s", (exec, timeout, sentence) => {
    expect(times(exec, timeout, 30_000)).toEqual([sentence]);
  });

  test.each([
    ["61s", "1m", true],
    ["1m", "1m", false],
    ["61s", undefined, false],
  ])("exec_timeout %s and a timeout of %s need a longer queue: %s", (exec, timeout, expected) => {
    const annotations = timeout === undefined ? {} : { "com.service.timeout": timeout };
    expect(needsLongQueue({ service: "a", image: "a", envVars: { exec_timeout: exec }, annotations })).toBe(expected);
  });
});
