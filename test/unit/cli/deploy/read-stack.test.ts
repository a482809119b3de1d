import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { readStack } from "../../../../runtime/cli/deploy/plan/read-stack.ts";
import { exitCode } from "../../../../runtime/cli/exit-code.ts";
import { tempDirectory, type TempDirectory } from "../../../support/temp-directory.ts";

let directory: TempDirectory;
beforeEach(async () => {
  directory = await tempDirectory("stack");
});
afterEach(() => directory.remove());

const write = (name: string, text: string): Promise<void> => writeFile(join(directory.path, name), text);
const head = "version: 1.0\nprovider:\n  name: openfaas\n  gateway: http://127.0.0.1:1\nfunctions:\n";
const read = (environment: Readonly<Record<string, string>> = {}, file = "stack.yml") =>
  readStack(directory.path, file, { environment });

describe("a stack file", () => {
  test("is the project that an import would make of it, and writes nothing", async () => {
    await mkdir(join(directory.path, "app"));
    await write("app/Dockerfile", "FROM scratch\n");
    await write("env.yml", "environment:\n  LEVEL: debug\n  SHARED: file\n");
    await write(
      "stack.yml",
      `${head}  hello:\n    lang: dockerfile\n    handler: ./app\n    image: r/hello:\${TAG:-latest}\n    fprocess: cat\n    environment:\n      SHARED: own\n      OWN: "1"\n    environment_file:\n      - env.yml\n    secrets: [key]\n`,
    );
    const { project, left } = await read({ TAG: "2" });
    expect(left).toEqual([]);
    expect(project).toMatchObject({
      directory: directory.path,
      content: {
        functions: {
          hello: { image: "r/hello:2", envProcess: "cat", envVars: { OWN: "1" }, secrets: ["key"], folder: "app" },
        },
      },
      environments: { hello: { LEVEL: "debug", SHARED: "file" } },
    });
  });

  test("has fields that are left out, each with a sentence", async () => {
    await write(
      "stack.yml",
      `${head}  hello:\n    image: hello:1\n    lang: node22\n    handler: ./hello\n    build_options: [dev]\n`,
    );
    const { project, left } = await read();
    expect(project.content.functions["hello"]).toMatchObject({ image: "hello:1" });
    expect(left.length).toBeGreaterThan(0);
    for (const sentence of left) expect(sentence).toMatch(/^stack\.yml:\d+: functions\.hello\.\w+ is left out: ./);
    expect(left.join("\n")).toContain("build_options");
  });

  test.each([
    ["is not there", undefined, /^Cannot read "stack\.yml": it is not there$/],
    ["has no functions", head, /^Cannot deploy "stack\.yml": it has no function that can be deployed$/],
    ["is none", "a: 1\n", /^Cannot import "stack\.yml": it is neither/],
    ["needs a variable", `${head}  hello:\n    image: "hello:\${TAG}"\n`, /variable TAG is not set/],
    [
      "has none that can be deployed",
      `${head}  hello:\n    image: "hello:\${TAG:-a b}"\n`,
      /^stack\.yml:7: functions\.hello\.image is left out: [\s\S]+\nCannot deploy "stack\.yml": it has no function that/,
    ],
  ])("that %s is exit code 2", async (_name, text, sentence) => {
    if (text !== undefined) await write("stack.yml", text);
    await expect(read()).rejects.toMatchObject({ exit: exitCode.usage, message: expect.stringMatching(sentence) });
  });
});
