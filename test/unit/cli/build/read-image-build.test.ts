import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { readImageBuild } from "../../../../runtime/cli/build/read-image-build.ts";
import { exitCode } from "../../../../runtime/cli/exit-code.ts";
import type { ProjectFunction } from "../../../../runtime/cli/project/project-schema.ts";
import { tempDirectory, type TempDirectory } from "../../../support/temp-directory.ts";

let directory: TempDirectory;
beforeEach(async () => {
  directory = await tempDirectory("image-build");
  await mkdir(join(directory.path, "app"));
  await writeFile(join(directory.path, "app", "app.js"), "1");
  await writeFile(join(directory.path, "app", "Dockerfile"), "FROM scratch\n");
});
afterEach(() => directory.remove());

const read = (definition: ProjectFunction, registry?: string) =>
  readImageBuild(definition, { name: "hello", directory: directory.path, registry, failure: 'Cannot build "hello"' });

test("the folder is the context, with its Dockerfile", async () => {
  const app = join(directory.path, "app");
  const build = await read({ folder: "app" });
  expect(build).toMatchObject({ name: "hello", context: app, dockerfile: join(app, "Dockerfile"), platforms: [] });
  expect(build.content).toMatch(/^[0-9a-f]{12}$/);
  expect(build.image).toBe(`local/hello:${build.content}`);
});

describe("the content", () => {
  const settings = { dockerfile: "Dockerfile", args: { A: "1", B: "2" }, target: "t", platforms: ["linux/amd64"] };

  test("is the same for the same settings in another order", async () => {
    const { content } = await read({ folder: "app", build: settings });
    expect(await read({ folder: "app", build: { ...settings, args: { B: "2", A: "1" } } })).toMatchObject({ content });
    expect(await read({ folder: "app", build: { ...settings, registry: "r", tag: "v1" } })).toMatchObject({ content });
  });

  test.each<[string, NonNullable<ProjectFunction["build"]>]>([
    ["an argument", { ...settings, args: { A: "1", B: "3" } }],
    ["the stage", { ...settings, target: "u" }],
    ["the platforms", { ...settings, platforms: ["linux/arm64"] }],
    ["the context", { ...settings, context: ".", dockerfile: "app/Dockerfile" }],
  ])("is another one for another value of %s", async (_name, build) => {
    const { content } = await read({ folder: "app", build: settings });
    expect((await read({ folder: "app", build })).content).not.toBe(content);
  });

  test("has the Dockerfile in it, also when .dockerignore lists it", async () => {
    await writeFile(join(directory.path, "app", ".dockerignore"), "Dockerfile\n");
    const { content } = await read({ folder: "app" });
    await writeFile(join(directory.path, "app", "Dockerfile"), "FROM busybox\n");
    expect((await read({ folder: "app" })).content).not.toBe(content);
  });
});

describe("without a Dockerfile", () => {
  test.each<[string, ProjectFunction, string]>([
    ["nothing can be built", { folder: "." }, 'Cannot build "hello": cannot read "/…/Dockerfile": it is not there'],
    [
      "a function that the local provider runs says so",
      { folder: ".", run: { process: "node app.js" } },
      'Cannot build "hello": "run" is for the local provider, and there is no "/…/Dockerfile"; add one, or set image',
    ],
  ])("%s", async (_name, definition, sentence) => {
    await expect(read(definition)).rejects.toMatchObject({
      exit: exitCode.usage,
      message: sentence.replace("/…", directory.path),
    });
  });
});
