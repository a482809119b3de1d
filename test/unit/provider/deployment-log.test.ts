import pino from "pino";
import { expect, test } from "vitest";

import { desireFunction } from "../../../runtime/core/functions/desired-function.ts";
import { DeploymentLog } from "../../../runtime/provider/deployment-log.ts";

test("deployments and deletions are logged, functions found at the start and changes of replicas are not", () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const deployments = new DeploymentLog(log);
  const first = desireFunction(undefined, "functions", { service: "hello", image: "hello:1" }, "");
  const second = desireFunction(first, "functions", { service: "hello", image: "hello:2" }, "");
  const logged = (): unknown[] =>
    lines.splice(0).map((line) => {
      const { msg, functionName, image } = JSON.parse(line) as Record<string, unknown>;
      return [msg, functionName, image];
    });

  deployments.deployed(first, false);
  expect(logged()).toEqual([]);
  deployments.deployed(second, true);
  expect(logged()).toEqual([["function deployed again", "hello", "hello:2"]]);
  deployments.deployed({ ...second, replicas: 0 }, true);
  expect(logged()).toEqual([]);
  deployments.deleted(second);
  deployments.deleted(second);
  expect(logged()).toEqual([["function deleted", "hello", undefined]]);
  deployments.deployed(first, true);
  expect(logged()).toEqual([["function deployed", "hello", "hello:1"]]);
});
