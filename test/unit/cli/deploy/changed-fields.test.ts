import { describe, expect, test } from "vitest";

import type { FunctionDeployment } from "../../../../runtime/api/schemas/function-deployment.ts";
import { changedFields } from "../../../../runtime/cli/deploy/plan/changed-fields.ts";
import { describeChange, withoutValues } from "../../../../runtime/cli/deploy/plan/describe-changes.ts";
import { functionStatusOf } from "../../../support/function-status-of.ts";

const deployment: FunctionDeployment = {
  service: "hello",
  image: "hello:1",
  envProcess: "cat",
  envVars: { LEVEL: "1" },
  labels: { "com.service.scale.max": "2" },
  annotations: { topic: "a" },
  secrets: ["b", "a"],
  constraints: ["zone=a"],
  limits: { memory: "128Mi" },
  requests: { cpu: "100m" },
  readOnlyRootFilesystem: true,
};

describe("what a deployment changes", () => {
  test("is nothing if it is what the gateway shows, in whatever order", () => {
    expect(changedFields(functionStatusOf(deployment), { ...deployment, secrets: ["a", "b"] })).toEqual([]);
  });

  test("is nothing where empty stands for absent", () => {
    const bare = { service: "hello", image: "hello:1" };
    const empty = {
      envProcess: "",
      envVars: {},
      labels: {},
      annotations: {},
      secrets: [],
      constraints: [],
      limits: {},
      requests: {},
      readOnlyRootFilesystem: false,
    };
    expect(changedFields(functionStatusOf(bare), { ...bare, ...empty })).toEqual([]);
    expect(changedFields(functionStatusOf({ ...bare, ...empty }), bare)).toEqual([]);
  });

  test("is everything if there is no such function", () => {
    expect(changedFields(undefined, deployment).map(({ path, after }) => [path, after])).toEqual([
      ["image", "hello:1"],
      ["envProcess", "cat"],
      ["readOnlyRootFilesystem", true],
      ["envVars.LEVEL", "1"],
      ["labels.com.service.scale.max", "2"],
      ["annotations.topic", "a"],
      ["limits.memory", "128Mi"],
      ["requests.cpu", "100m"],
      ["secrets", ["a", "b"]],
      ["constraints", ["zone=a"]],
    ]);
  });

  test.each<[string, Partial<FunctionDeployment>, object]>([
    ["image", { image: "hello:2" }, { path: "image", before: "hello:1", after: "hello:2" }],
    ["a variable", { envVars: { LEVEL: "2" } }, { path: "envVars.LEVEL", before: "1", after: "2" }],
    ["a variable less", { envVars: {} }, { path: "envVars.LEVEL", before: "1" }],
    ["a label more", { labels: { ...deployment.labels, x: "1" } }, { path: "labels.x", after: "1" }],
    ["a list", { secrets: ["a"] }, { path: "secrets", before: ["a", "b"], after: ["a"] }],
    ["a flag", { readOnlyRootFilesystem: false }, { path: "readOnlyRootFilesystem", before: true }],
  ])("is %s", (_name, change, expected) => {
    expect(changedFields(functionStatusOf(deployment), { ...deployment, ...change })).toEqual([expected]);
  });
});

describe("what is shown of it", () => {
  const fields = [
    { path: "image", before: "a", after: "b" },
    { path: "envVars.PASSWORD", before: "canary-old", after: "canary-new" },
    { path: "envVars.ADDED", after: "canary-new" },
    { path: "envVars.GONE", before: "canary-old" },
    { path: "secrets", after: ["a"] },
    { path: "labels.x", before: "\u001B[2J\nhello changes" },
  ];
  const change = { name: "hello", change: "update", fields } as const;

  test("has the old and the new value of each field, but no value of envVars", () => {
    expect(describeChange(change)).toBe(
      [
        "hello changes",
        "  ~ image: a → b",
        "  ~ envVars.PASSWORD: …",
        "  + envVars.ADDED: …",
        "  - envVars.GONE: …",
        '  + secrets: ["a"]',
        String.raw`  - labels.x: \u001b[2J\nhello changes`,
        "",
      ].join("\n"),
    );
    expect(JSON.stringify(withoutValues(change))).not.toContain("canary");
  });

  test.each([
    ["create", "is created"],
    ["none", "does not change"],
  ] as const)("says that a function %s", (what, words) => {
    expect(describeChange({ name: "hello", change: what, fields: [] })).toBe(`hello ${words}\n`);
  });
});
