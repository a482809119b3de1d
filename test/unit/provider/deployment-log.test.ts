import pino from "pino";
import { expect, test } from "vitest";

import { desireFunction } from "../../../runtime/core/functions/desired-function.ts";
import { DeploymentLog } from "../../../runtime/provider/deployment-log.ts";

test("deployments and deletions are told, what was there at the start and changes of replicas are not", () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const deployments = new DeploymentLog(log);
  const first = desireFunction(undefined, "functions", { service: "hello", image: "hello:1" }, "");
  const second = desireFunction(first, "functions", { service: "hello", image: "hello:2" }, "");
  const told = (): unknown[] =>
    lines.splice(0).map((line) => {
      const { msg, functionName, image } = JSON.parse(line) as Record<string, unknown>;
      return [msg, functionName, image];
    });

  deployments.deployed(first, false);
  expect(told()).toEqual([]);
  deployments.deployed(second, true);
  expect(told()).toEqual([["function deployed again", "hello", "hello:2"]]);
  deployments.deployed({ ...second, replicas: 0 }, true);
  expect(told()).toEqual([]);
  deployments.deleted(second);
  deployments.deleted(second);
  expect(told()).toEqual([["function deleted", "hello", undefined]]);
  deployments.deployed(first, true);
  expect(told()).toEqual([["function deployed", "hello", "hello:1"]]);
});
