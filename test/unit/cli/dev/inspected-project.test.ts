import { expect, test } from "vitest";

import { inspectedProject } from "../../../../runtime/cli/dev/inspected-project.ts";
import type { Project } from "../../../../runtime/cli/project/project.ts";

const project = (definition: object, environments: Project["environments"] = {}): Project => ({
  file: "/p/weir.yaml",
  directory: "/p",
  content: { version: 1, functions: { hello: { folder: ".", ...definition } } },
  environments,
});
const inspectFlag = "--inspect=127.0.0.1:0";

test("a debugger is on loopback, there is one replica, and calls may take an hour", () => {
  expect(inspectedProject(project({ envVars: { A: "1" }, labels: { team: "x" } })).content.functions["hello"]).toEqual({
    folder: ".",
    envVars: { A: "1", NODE_OPTIONS: inspectFlag },
    labels: { team: "x", "com.service.scale.min": "1", "com.service.scale.max": "1" },
    annotations: { "com.service.timeout": "1h" },
  });
});

test("options of the function itself stay, those of its environment files, too", () => {
  const options = (changed: Project) => changed.content.functions["hello"]?.envVars?.["NODE_OPTIONS"];
  const own = { envVars: { NODE_OPTIONS: "--no-warnings" } };
  const files = { hello: { NODE_OPTIONS: "--title=files" } };
  expect(options(inspectedProject(project(own, files)))).toBe(`--no-warnings ${inspectFlag}`);
  expect(options(inspectedProject(project({}, files)))).toBe(`--title=files ${inspectFlag}`);
});

test("scaling and timeouts under either prefix give way", () => {
  const definition = {
    labels: { "com.openfaas.scale.max": "9", "com.service.scale.zero": "true" },
    annotations: { "com.openfaas.timeout": "5s", topic: "a" },
  };
  expect(inspectedProject(project(definition)).content.functions["hello"]).toMatchObject({
    labels: { "com.service.scale.min": "1", "com.service.scale.max": "1" },
    annotations: { topic: "a", "com.service.timeout": "1h" },
  });
  const { labels, annotations } = inspectedProject(project(definition)).content.functions["hello"] ?? {};
  expect(Object.keys({ ...labels, ...annotations }).filter((key) => /openfaas|zero/.test(key))).toEqual([]);
});
