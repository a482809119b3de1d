import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";

import { functionManifest } from "../../../../../runtime/cli/moves/write/function-manifest.ts";
import type { GeneratedFunction } from "../../../../../runtime/cli/moves/write/generated-functions.ts";
import { pulumiProgram } from "../../../../../runtime/cli/moves/write/pulumi-program.ts";
import { recordResources, resourceNamed } from "../../../../support/pulumi-mocks.ts";
import { tempDirectory } from "../../../../support/temp-directory.ts";

const generated = (name: string, deployed: GeneratedFunction["deployed"]): GeneratedFunction => ({
  name,
  deployed,
  definition: {},
  fileVariables: [],
});

const hello = generated("hello", {
  image: "hello:1",
  envProcess: 'sh -c "cat"',
  envVars: { "a.b": "${X}\n", exec_timeout: "5s" },
  labels: { "com.service.scale.max": "5" },
  secrets: ["api-key", "token"],
  limits: { memory: "128Mi" },
  readOnlyRootFilesystem: true,
});

/** Runs the program as a person's, who installed `weir`. */
async function runProgram(text: string): Promise<{ readonly paths: Readonly<Record<string, unknown>> }> {
  await using directory = await tempDirectory("generated");
  const root = fileURLToPath(new URL("../../../../..", import.meta.url));
  await mkdir(join(directory.path, "node_modules"));
  await symlink(root, join(directory.path, "node_modules", "weir"));
  await symlink(join(root, "node_modules", "@pulumi"), join(directory.path, "node_modules", "@pulumi"));
  const file = join(directory.path, "index.ts");
  await writeFile(file, text);
  return (await import(pathToFileURL(file).href)) as { readonly paths: Readonly<Record<string, unknown>> };
}

test("the program makes the objects that weir generate functions prints, and their secrets", async () => {
  const recorder = await recordResources();
  for (const name of ["api-key", "token"]) pulumi.runtime.setConfig(`weir:${name}`, `value of ${name}`);
  const { paths } = await runProgram(pulumiProgram([hello, generated("other-1", { image: "other:1" })]));
  expect(Object.keys(paths)).toEqual(["hello", "other-1"]);
  const resources = await recorder.resources();
  const { spec } = functionManifest({ name: "hello" }, hello.deployed);
  expect(resourceNamed(resources, "service.com/v1:Function", "hello").inputs).toMatchObject({
    metadata: { name: "hello", namespace: "functions" },
    spec,
  });
  expect(resourceNamed(resources, "core/v1:Secret", "api-key").inputs).toMatchObject({
    metadata: { name: "api-key", namespace: "functions" },
    data: { "api-key": Buffer.from("value of api-key").toString("base64") },
  });
});

test("secrets of one name in two namespaces are two, with values of their own", () => {
  const program = pulumiProgram([
    generated("a", { image: "a", namespace: "dev", secrets: ["key"] }),
    generated("b", { image: "b", namespace: "prod", secrets: ["key"] }),
  ]);
  expect(program.match(/new FunctionSecret/g)).toHaveLength(2);
  expect(program).toContain('config.requireSecret("dev/key")');
  expect(program).toContain('secrets["prod/key"].secretName');
});

test("without secrets there is no configuration", () => {
  expect(pulumiProgram([generated("a", { image: "a" })])).toBe(`import { Function } from "weir/infra";

const functions = {
  a: new Function("a", {
    image: "a",
  }),
};

export const paths = Object.fromEntries(Object.entries(functions).map(([name, { path }]) => [name, path]));
`);
});
