import { describe, expect, test } from "vitest";

import { deployTarget, type DeployTarget } from "../../../../runtime/cli/deploy/plan/deploy-target.ts";
import { functionSource } from "../../../../runtime/cli/deploy/plan/function-source.ts";
import { exitCode } from "../../../../runtime/cli/exit-code.ts";
import type { ProjectFunction } from "../../../../runtime/cli/project/project-schema.ts";

const version = { release: "1", sha: "a", commit_message: "b" };

test.each([
  ["weir-local", "http://127.0.0.1:8080", "folders"],
  ["weir-local", "https://weir.example.com", "processes"],
  ["weir-docker", "http://localhost:8080", "engine"],
  ["weir-docker", "https://weir.example.com", "machine"],
  ["weir-kubernetes", "http://127.0.0.1:8080", "cluster"],
  ["faas-netes", "https://weir.example.com", "cluster"],
])("provider %s at %s is target %s", (provider, address, expected) => {
  expect(deployTarget({ provider: { provider, orchestration: "any", version } }, address)).toBe(expected);
});

const run = { process: "node a.js" };
const images = ["engine", "machine", "cluster"] as const;

describe("what a function is deployed from", () => {
  test.each<[string, ProjectFunction, DeployTarget, object]>([
    [
      "a folder, its commands",
      { folder: "a", run: { ...run, prepare: ["npm ci"] } },
      "folders",
      { kind: "folder", folder: "a", process: "node a.js", prepare: ["npm ci"] },
    ],
    [
      "a folder with envProcess",
      { folder: "a", envProcess: "cat" },
      "folders",
      { kind: "folder", folder: "a", process: "cat", prepare: [] },
    ],
    [
      "run.process over envProcess",
      { folder: "a", envProcess: "cat", run },
      "folders",
      { kind: "folder", folder: "a", process: "node a.js", prepare: [] },
    ],
    [
      "a folder rather than the image that it has for others",
      { folder: "a", image: "i", run },
      "folders",
      { kind: "folder", folder: "a", process: "node a.js", prepare: [] },
    ],
    ["an image whose folder cannot be run", { folder: "a", image: "i" }, "folders", { kind: "image", image: "i" }],
    ["an image", { image: "i" }, "folders", { kind: "image", image: "i" }],
    ["an image", { image: "i", folder: "a", run }, "processes", { kind: "image", image: "i" }],
  ])("%s", (_name, definition, target, expected) => {
    expect(functionSource("hello", definition, target)).toEqual(expected);
  });

  test.each(images)("%s: an image, which is built if there is none, or build says so", (target) => {
    expect(functionSource("hello", { image: "i" }, target)).toEqual({ kind: "image", image: "i" });
    expect(functionSource("hello", { image: "i", folder: "a", run }, target)).toEqual({ kind: "image", image: "i" });
    expect(functionSource("hello", { folder: "a", run }, target)).toEqual({ kind: "build" });
    expect(functionSource("hello", { image: "i", build: {} }, target)).toEqual({ kind: "build" });
  });

  test.each<[string, ProjectFunction, DeployTarget, string]>([
    [
      "nothing to run",
      { folder: "a" },
      "folders",
      "to the local provider: it runs no images; set run.process, or start Weir with --provider docker",
    ],
    [
      "no folder",
      { build: {} },
      "folders",
      "to the local provider: it runs no images; set folder and run.process, or start Weir with --provider docker",
    ],
    [
      "a folder of another machine",
      { folder: "a", run },
      "processes",
      "to the local provider of another machine: folders of this machine are not there; set image and envProcess",
    ],
  ])("%s is exit code 2", (_name, definition, target, words) => {
    expect(() => functionSource("hello", definition, target)).toThrow(
      expect.objectContaining({ exit: exitCode.usage, message: `Cannot deploy "hello" ${words}` }),
    );
  });
});

test("each command of prepare gets the environment of all", () => {
  const prepared = { prepare: ["npm ci", "make"], prepareEnvironment: { CI: "1", NOTE: "a b" }, process: "node ." };
  expect(functionSource("hello", { folder: ".", run: prepared }, "folders")).toMatchObject({
    prepare: ["env CI=1 NOTE='a b' npm ci", "env CI=1 NOTE='a b' make"],
  });
});
