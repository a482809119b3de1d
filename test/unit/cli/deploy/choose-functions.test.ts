import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { chooseDescribed, chooseFunctions } from "../../../../runtime/cli/deploy/plan/choose-functions.ts";
import { exitCode } from "../../../../runtime/cli/exit-code.ts";
import { tempDirectory, type TempDirectory } from "../../../support/temp-directory.ts";

let directory: TempDirectory;
beforeEach(async () => {
  directory = await tempDirectory("choose");
});
afterEach(() => directory.remove());

const place = () => ({ directory: directory.path, environment: {} });
const writeProject = async (): Promise<void> => {
  const functions = ["alpha", "beta", "gamma"].map(
    (name) => `  ${name}: { image: ${name}, envVars: { A: "\${A:-none}" } }`,
  );
  await writeFile(join(directory.path, "weir.yaml"), `version: 1\nfunctions:\n${functions.join("\n")}\n`);
};

describe("functions of a project", () => {
  beforeEach(writeProject);

  test.each<[string, readonly string[], readonly string[], readonly string[]]>([
    ["all by default", [], [], ["alpha", "beta", "gamma"]],
    ["those that are named", ["gamma", "alpha"], [], ["gamma", "alpha"]],
    ["--only, with commas and several times", [], ["gamma, beta", "alpha"], ["gamma", "beta", "alpha"]],
    ["each once", ["alpha"], ["alpha,alpha,"], ["alpha"]],
  ])("%s", async (_name, named, only, expected) => {
    expect((await chooseFunctions(place(), named, { only })).names).toEqual(expected);
  });

  test("are found from a directory below", async () => {
    await mkdir(join(directory.path, "below"));
    const { project, names } = await chooseFunctions({ ...place(), directory: join(directory.path, "below") }, [], {});
    expect([project.directory, names.length]).toEqual([directory.path, 3]);
  });

  test("that are not there are exit code 2, with the nearest name", async () => {
    const sentence = 'Cannot find function "alhpa" in "weir.yaml": there is none; did you mean "alpha"?';
    for (const choose of [
      () => chooseFunctions(place(), ["alhpa"], {}),
      () => chooseDescribed(place(), ["alhpa"], { env: ["A=1"] }),
    ])
      await expect(choose()).rejects.toMatchObject({ exit: exitCode.usage, message: sentence });
  });

  test("get their variables from --env-file", async () => {
    await writeFile(join(directory.path, "a.env"), "A=file\n");
    const { project } = await chooseFunctions(place(), [], { envFile: ["a.env"] });
    expect(project.content.functions["alpha"]?.envVars).toEqual({ A: "file" });
  });

  test("are changed by flags, one of them", async () => {
    const { project, names } = await chooseDescribed(place(), ["beta"], { env: ["B=2"] });
    expect(names).toEqual(["beta"]);
    expect(project.content.functions["beta"]).toEqual({ image: "beta", envVars: { A: "none", B: "2" } });
    expect(project.content.functions["alpha"]).toEqual({ image: "alpha", envVars: { A: "none" } });
  });

  test("may have another one beside them that only flags describe", async () => {
    const { project, names } = await chooseDescribed(place(), ["delta"], { image: "delta:1" });
    expect(names).toEqual(["delta"]);
    expect(project.content.functions["delta"]).toEqual({ image: "delta:1" });
  });

  test.each([[[]], [["alpha", "beta"]]])("cannot all be changed by flags: %j", async (named) => {
    await expect(chooseDescribed(place(), named, { env: ["A=1"] })).rejects.toMatchObject({
      exit: exitCode.usage,
      message: "Cannot use --env: name the one function to deploy",
    });
  });
});

describe("without a project", () => {
  test("flags suffice, with the environment of --env-file below --env", async () => {
    await writeFile(join(directory.path, "a.env"), "A=file\nB=file\n");
    const options = { image: "hello:1", env: ["A=flag"], envFile: ["a.env"] };
    const { project, names } = await chooseDescribed(place(), ["hello"], options);
    expect(names).toEqual(["hello"]);
    expect(project.content.functions["hello"]).toEqual({ image: "hello:1", envVars: { A: "flag", B: "file" } });
  });

  test.each([
    ["there is no image", ["hello"], { env: ["A=1"] }, 'Cannot deploy "hello": there is no weir.yaml, and no --image'],
    ["there are no flags", ["hello"], {}, 'Cannot find "weir.yaml": it is neither here nor above'],
    [
      "a file is not there",
      ["hello"],
      { image: "a", envFile: ["gone.env"] },
      'Cannot read "gone.env" of --env-file: it is not there',
    ],
  ])("%s: exit code 2", async (_name, named, options, message) => {
    await expect(chooseDescribed(place(), named, options)).rejects.toMatchObject({ exit: exitCode.usage, message });
  });
});
