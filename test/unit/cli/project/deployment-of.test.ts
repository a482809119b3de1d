import { Check } from "typebox/value";
import { expect, test } from "vitest";

import { FunctionDeployment } from "../../../../runtime/api/schemas/function-deployment.ts";
import { deploymentOf } from "../../../../runtime/cli/project/deployment-of.ts";
import type { ProjectFile } from "../../../../runtime/cli/project/project-schema.ts";
import type { Project } from "../../../../runtime/cli/project/project.ts";

function projectOf(content: Omit<ProjectFile, "version">, environments: Project["environments"] = {}): Project {
  return { file: "/p/weir.yaml", directory: "/p", content: { version: 1, ...content }, environments };
}

test("deploymentOf() sends what weir.yaml says, without where it comes from", () => {
  const fields = {
    image: "hello:1",
    envProcess: "cat",
    labels: { "com.service.scale.min": "2" },
    annotations: { note: "x" },
    secrets: ["key"],
    constraints: ["zone=a"],
    limits: { memory: "128Mi" },
    requests: { cpu: "1" },
    readOnlyRootFilesystem: true,
  } as const;
  const project = projectOf({
    functions: {
      hello: { ...fields, folder: ".", environmentFiles: ["a.env"], build: { tag: "1" }, run: { process: "./x" } },
    },
  });
  const deployment = deploymentOf(project, "hello");
  expect(deployment).toEqual({ service: "hello", ...fields });
  expect(Check(FunctionDeployment, deployment)).toBe(true);
});

test("envVars win over environment files, which are those of the function alone", () => {
  const project = projectOf(
    { functions: { a: { image: "a", envVars: { A: "1" } }, b: { image: "b" }, c: { image: "c", envVars: {} } } },
    { a: { A: "0", B: "0" }, b: { C: "0" } },
  );
  expect(deploymentOf(project, "a").envVars).toEqual({ A: "1", B: "0" });
  expect(deploymentOf(project, "b").envVars).toEqual({ C: "0" });
  expect(deploymentOf(project, "c").envVars).toEqual({});
});

test("the namespace is the function's, else the project's, else left out", () => {
  const functions = { own: { image: "x", namespace: "own" }, none: { image: "x" } };
  const project = projectOf({ namespace: "shop", functions });
  expect(deploymentOf(project, "own").namespace).toBe("own");
  expect(deploymentOf(project, "none").namespace).toBe("shop");
  expect("namespace" in deploymentOf(projectOf({ functions }), "none")).toBe(false);
});

test("an image that was built wins", () => {
  const project = projectOf({ functions: { a: { image: "a:1" }, b: { folder: "." } } });
  expect(deploymentOf(project, "a", "a:2").image).toBe("a:2");
  expect(deploymentOf(project, "b", "b:2").image).toBe("b:2");
  expect(() => deploymentOf(project, "b")).toThrow('Cannot deploy "b": it has no image, and none was built');
});

test.each([
  ["helo", 'Cannot find function "helo" in "weir.yaml": there is none; did you mean "hello"?'],
  ["constructor", 'Cannot find function "constructor" in "weir.yaml": there is none'],
])("function %s is not there", (name, sentence) => {
  const project = projectOf({ functions: { hello: { image: "x" } } });
  expect(() => deploymentOf(project, name)).toThrow(expect.objectContaining({ exit: 2, message: sentence }));
});
