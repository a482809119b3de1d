import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import type { DeployTarget } from "../../../../runtime/cli/deploy/plan/deploy-target.ts";
import { planDeployment, type PlanPlace } from "../../../../runtime/cli/deploy/plan/plan-deployment.ts";
import { exitCode } from "../../../../runtime/cli/exit-code.ts";
import type { ProjectFunction } from "../../../../runtime/cli/project/project-schema.ts";
import { tempDirectory, type TempDirectory } from "../../../support/temp-directory.ts";

let directory: TempDirectory;
beforeEach(async () => {
  directory = await tempDirectory("plan");
  await mkdir(join(directory.path, "app"));
  await writeFile(join(directory.path, "app", "app.js"), "1");
  await writeFile(join(directory.path, "app", "Dockerfile"), "FROM scratch\n");
});
afterEach(() => directory.remove());

const plan = (definition: ProjectFunction, target: DeployTarget, place: Partial<PlanPlace> = {}) =>
  planDeployment(
    {
      file: join(directory.path, "weir.yaml"),
      directory: directory.path,
      content: { version: 1, functions: { hello: definition } },
      environments: { hello: { A: "file", B: "file" } },
    },
    "hello",
    { target, namespaceFlag: undefined, namespace: undefined, registry: undefined, ...place },
  );
const run = { process: "node app.js" };

describe("on the local provider", () => {
  test("a folder is named by its content, and where it is", async () => {
    const annotations = { topic: "a" };
    const { deployment, build } = await plan(
      { folder: "app", run: { ...run, prepare: ["npm ci"] }, annotations },
      "folders",
    );
    expect(build).toBeUndefined();
    expect(deployment).toEqual({
      service: "hello",
      image: expect.stringMatching(/^local\/hello:[0-9a-f]{12}$/),
      envProcess: "node app.js",
      envVars: { A: "file", B: "file" },
      annotations: {
        topic: "a",
        "com.service.local.folder": join(directory.path, "app"),
        "com.service.local.prepare": '["npm ci"]',
      },
    });
  });

  test("a link to the folder is followed once, and a change of its content is another image", async () => {
    await symlink("app", join(directory.path, "link"));
    const before = await plan({ folder: "link", run }, "folders");
    expect(before.deployment.annotations).toEqual({ "com.service.local.folder": join(directory.path, "app") });
    await writeFile(join(directory.path, "app", "app.js"), "2");
    const after = await plan({ folder: "link", run }, "folders");
    expect(after.deployment.image).not.toBe(before.deployment.image);
  });

  test("a link that leaves the folder is exit code 2", async () => {
    await symlink("../weir.yaml", join(directory.path, "app", "outside"));
    await expect(plan({ folder: "app", run }, "folders")).rejects.toMatchObject({
      exit: exitCode.usage,
      message: 'Cannot deploy "hello" to the local provider: link "outside" leaves its folder, to "../weir.yaml"',
    });
  });
});

describe("where images run", () => {
  test("the engine of this machine needs no registry", async () => {
    const { deployment, build } = await plan({ folder: "app", run }, "engine");
    expect(deployment.image).toBe(build?.image);
    expect(deployment).toEqual({
      service: "hello",
      image: `local/hello:${build?.content}`,
      envVars: { A: "file", B: "file" },
    });
  });

  test.each([
    ["cluster", "to a cluster"],
    ["machine", "to another machine"],
  ] as const)("a %s does", async (target, words) => {
    await expect(plan({ folder: "app" }, target)).rejects.toMatchObject({
      exit: exitCode.usage,
      message: `Cannot deploy "hello" ${words}: no registry is set; set build.registry or --registry`,
    });
    const { deployment } = await plan({ folder: "app" }, target, { registry: "r:5000/a" });
    expect(deployment.image).toMatch(/^r:5000\/a\/hello:[0-9a-f]{12}$/);
  });

  test("a function that only the local provider runs is exit code 2", async () => {
    await mkdir(join(directory.path, "bare"));
    await expect(plan({ folder: "bare", run }, "cluster", { registry: "r" })).rejects.toMatchObject({
      exit: exitCode.usage,
      message: expect.stringMatching(
        /^Cannot deploy "hello" to a cluster: "run" is for the local provider, and there is no "/,
      ),
    });
  });
});

describe("the namespace", () => {
  test.each<[string, ProjectFunction, Partial<PlanPlace>, string | undefined]>([
    ["of the flag", { image: "a", namespace: "own" }, { namespaceFlag: "flag", namespace: "context" }, "flag"],
    ["of the function", { image: "a", namespace: "own" }, { namespace: "context" }, "own"],
    ["of the context", { image: "a" }, { namespace: "context" }, "context"],
    ["of the gateway", { image: "a" }, {}, undefined],
  ])("is that %s", async (_name, definition, place, expected) => {
    expect((await plan(definition, "cluster", place)).deployment.namespace).toBe(expected);
  });
});
