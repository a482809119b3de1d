import { fileURLToPath } from "node:url";

import { describe, expect, test } from "vitest";

import { deploymentOf, projectFunction } from "../../../../runtime/cli/project/deployment-of.ts";
import { readProject } from "../../../../runtime/cli/project/read-project.ts";
import { exampleNames, readExample } from "../../../../scripts/example/example.ts";

const examples = fileURLToPath(new URL("../../../../examples", import.meta.url));

describe.each(await exampleNames(examples))("weir.yaml of example %s", (name) => {
  test("deploys the same as example.json", async () => {
    const { directory, deployment, packages } = await readExample(examples, name);
    const project = await readProject({ directory, environment: {} });
    expect(Object.keys(project.content.functions)).toEqual([deployment.service]);

    const { folder, run, build, image } = projectFunction(project, deployment.service);
    expect({ folder, build, image }).toEqual({ folder: ".", build: undefined, image: undefined });
    // It runs in its folder.
    const process = deployment.envProcess.replaceAll(/"\{directory\}\/([^"]+)"/g, "$1");
    const deployed = deploymentOf(project, deployment.service, deployment.image);
    expect({ ...deployed, envProcess: run?.process ?? deployed.envProcess }).toEqual({
      ...deployment,
      envProcess: process,
    });
    expect(run?.prepare ?? []).toEqual(packages.length === 0 ? [] : ["npm install --no-package-lock"]);
  });
});
