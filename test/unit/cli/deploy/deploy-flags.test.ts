import { describe, expect, test } from "vitest";

import { applyFlags, givenFlags, type DeployFlags } from "../../../../runtime/cli/deploy/plan/deploy-flags.ts";
import { exitCode } from "../../../../runtime/cli/exit-code.ts";
import type { ProjectFunction } from "../../../../runtime/cli/project/project-schema.ts";

const folder: ProjectFunction = {
  folder: "app",
  build: { registry: "r" },
  run: { prepare: ["npm ci"], process: "node a.js" },
  envVars: { A: "1", B: "1" },
  labels: { x: "1" },
  secrets: ["a"],
  constraints: ["zone=a"],
  limits: { memory: "1Gi" },
};

describe("flags", () => {
  test.each<[string, DeployFlags, object]>([
    ["no flag changes nothing", {}, folder],
    ["maps change key by key", { env: ["B=2", "C=3"] }, { ...folder, envVars: { A: "1", B: "2", C: "3" } }],
    ["the last of two values wins", { label: ["x=2", "x=3"] }, { ...folder, labels: { x: "3" } }],
    [
      "a value may have an equals sign, or be empty",
      { annotation: ["a=b=c", "d="] },
      { ...folder, annotations: { a: "b=c", d: "" } },
    ],
    [
      "limits and requests",
      { limit: ["cpu=1"], request: ["cpu=500m"] },
      { ...folder, limits: { memory: "1Gi", cpu: "1" }, requests: { cpu: "500m" } },
    ],
    [
      "lists are replaced",
      { secret: ["b", "c", "b"], constraint: ["zone=b"] },
      { ...folder, secrets: ["b", "c"], constraints: ["zone=b"] },
    ],
    ["read-only", { readOnly: true }, { ...folder, readOnlyRootFilesystem: true }],
    [
      "the process is that of both ways to run",
      { process: "node b.js" },
      { ...folder, envProcess: "node b.js", run: { prepare: ["npm ci"], process: "node b.js" } },
    ],
  ])("%s", (_name, flags, expected) => {
    expect(applyFlags(folder, flags, {})).toEqual(expected);
  });

  test("an image stands in place of folder, build and run", () => {
    const { folder: _, build: __, run: ___, ...others } = folder;
    expect(applyFlags(folder, { image: "hello:1" }, {})).toEqual({ ...others, image: "hello:1" });
  });

  test("--env wins over --env-file", () => {
    expect(applyFlags({}, { image: "a", env: ["A=2"] }, { A: "1", B: "1" })).toEqual({
      image: "a",
      envVars: { A: "2", B: "1" },
    });
  });

  test.each([
    ["--label", { label: ["x"] }, 'Cannot read --label "x": it is not key=value'],
    ["--limit", { limit: ["=1"] }, 'Cannot read --limit "=1": it is not key=value'],
    ["--env, whose value may be a secret", { env: ["canary"] }, 'Cannot read --env "…": it is not key=value'],
  ])("one that is not key=value is refused: %s", (_name, flags, message) => {
    expect(() => applyFlags(folder, flags, {})).toThrow(expect.objectContaining({ exit: exitCode.usage, message }));
  });

  test("that were given are named as they are typed", () => {
    expect(givenFlags({})).toEqual([]);
    expect(givenFlags({ readOnly: true, image: "a" })).toEqual(["--image", "--read-only"]);
  });
});
