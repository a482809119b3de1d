import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import fc, { type Arbitrary } from "fast-check";
import { parseAllDocuments } from "yaml";
import { afterAll, beforeAll, expect, test } from "vitest";

import { FunctionDeployment } from "../../../../../runtime/api/schemas/function-deployment.ts";
import { importFiles } from "../../../../../runtime/cli/moves/import/import-files.ts";
import { functionsText } from "../../../../../runtime/cli/moves/write/functions-text.ts";
import { generatedFunctions } from "../../../../../runtime/cli/moves/write/generated-functions.ts";
import { schemaProblems } from "../../../../../runtime/cli/project/check-schema.ts";
import { plainValue } from "../../../../../runtime/cli/project/located.ts";
import { ProjectFile, type ProjectFunction } from "../../../../../runtime/cli/project/project-schema.ts";
import type { Project } from "../../../../../runtime/cli/project/project.ts";
import { readLocated } from "../../../../../runtime/cli/project/read-located.ts";
import { replaceVariables } from "../../../../../runtime/cli/project/replace-variables.ts";
import { arbitraryOf } from "../../../../support/schema-arbitrary.ts";
import { tempDirectory, type TempDirectory } from "../../../../support/temp-directory.ts";

let directory: TempDirectory;

beforeAll(async () => {
  directory = await tempDirectory("generate");
  await mkdir(join(directory.path, "code"));
  await writeFile(join(directory.path, "code", "Dockerfile"), "FROM scratch\n");
});
afterAll(() => directory?.remove());

type Content = Project["content"];
type Environments = Project["environments"];

/** Texts that YAML, references and comments could change. */
const nasty = fc.constantFrom(
  "${X}",
  "$${X}",
  "$$${X}",
  "${X:-y}",
  "yes",
  "1.0",
  "null",
  " a ",
  "a\nb\n",
  "# a",
  "a: b",
  "ä\u0085\u2028",
  "",
);
const text = fc.oneof(fc.string({ unit: "grapheme", maxLength: 20 }), nasty).filter((each) => !each.includes("\0"));
const name = fc.stringMatching(/^[a-z][-a-z0-9]{0,10}[a-z0-9]$/);
const environmentName = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,8}$/);
const key = fc.stringMatching(/^(?:example\.org\/)?[A-Za-z][A-Za-z0-9]{0,8}$/);

const { service: _, image, namespace, ...deployed } = FunctionDeployment.properties;
const { functions: functionsSchema, gateway, namespace: projectNamespace } = ProjectFile.properties;
const {
  build: buildSchema,
  run: runSchema,
  folder: folderSchema,
} = (functionsSchema as unknown as { additionalProperties: { properties: Record<string, object> } })
  .additionalProperties.properties;

/** A value of a field of the schema; texts without characters that no file of UTF-8 holds. */
function any(schema: object | undefined): Arbitrary<unknown> {
  return arbitraryOf(schema ?? {}).filter(
    (value) => JSON.stringify(value).isWellFormed() && !/\\ud[89a-f]/.test(JSON.stringify(value)),
  );
}

const whole = fc.record(
  {
    image: any(image),
    namespace: any(namespace),
    ...Object.fromEntries(Object.entries(deployed).map(([field, schema]) => [field, any(schema)])),
    envProcess: text,
    envVars: fc.dictionary(environmentName, text, { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
    labels: fc.dictionary(key, fc.constantFrom("a", "1", "true", ""), { maxKeys: 3, noNullPrototype: true }),
    annotations: fc.dictionary(key, text, { maxKeys: 3, noNullPrototype: true }),
    folder: any(folderSchema),
    environmentFiles: fc.array(name, { maxLength: 3 }),
    build: any(buildSchema),
    run: any(runSchema),
  },
  { requiredKeys: ["image"], noNullPrototype: true },
);

/** A function whose image is built, from a folder that is there. */
const built = fc.record(
  {
    folder: fc.constant("code"),
    build: fc.record(
      { registry: fc.constant("ghcr.io/acme"), tag: fc.constantFrom("v1", "v2") },
      { requiredKeys: ["registry"], noNullPrototype: true },
    ),
    run: any(runSchema),
  },
  { requiredKeys: ["folder", "build"], noNullPrototype: true },
);

const content = fc.record(
  {
    version: fc.constant(1 as const),
    gateway: any(gateway),
    namespace: any(projectNamespace),
    functions: fc.dictionary(name, fc.oneof(whole, built) as Arbitrary<ProjectFunction>, {
      minKeys: 1,
      maxKeys: 4,
      noNullPrototype: true,
    }),
  },
  { requiredKeys: ["version", "functions"], noNullPrototype: true },
) as Arbitrary<Content>;

/** Variables of files, for functions that name some. */
const environments = (of: Content): Arbitrary<Environments> =>
  fc.record(
    Object.fromEntries(
      Object.entries(of.functions)
        .filter(([, { environmentFiles = [] }]) => environmentFiles.length > 0)
        .map(([each]) => [each, fc.dictionary(environmentName, text, { maxKeys: 3, noNullPrototype: true })]),
    ),
    { noNullPrototype: true },
  );

const projects = content.chain((each) => environments(each).map((found) => ({ content: each, environments: found })));

async function generate(parts: { readonly content: Content; readonly environments: Environments }): Promise<string> {
  const project = { ...parts, file: join(directory.path, "weir.yaml"), directory: directory.path };
  return functionsText(project, await generatedFunctions(project, async (each) => each));
}

async function importBack(generated: string) {
  const inputs = [{ file: "functions.yaml", text: generated, directory: directory.path }];
  return importFiles(inputs, { directory: directory.path, renameKeys: false });
}

/** A weir.yaml as the commands read it. */
function contentOf(weirYaml: string): Content {
  const { root, problems } = readLocated(weirYaml);
  if (root === undefined) throw new Error(`no content: ${JSON.stringify(problems)}`);
  const replaced = replaceVariables(root, () => undefined);
  expect([...problems, ...replaced.problems, ...schemaProblems(replaced.root, ProjectFile)]).toEqual([]);
  return plainValue(replaced.root) as Content;
}

test("generated and imported, any weir.yaml is the same", async () => {
  await fc.assert(
    fc.asyncProperty(projects, async (parts) => {
      const once = await importBack(await generate(parts));
      expect(once.rows.filter(({ result }) => result === "not supported")).toEqual([]);
      const read = contentOf(once.project ?? "");
      expect(read).toEqual(parts.content);
      const twice = await importBack(await generate({ ...parts, content: read }));
      expect(twice.project).toBe(once.project);
    }),
    { numRuns: 300 },
  );
});

test("an object has what is deployed, in the project's namespace unless the function names its own", async () => {
  const functions = {
    hello: { image: "hello:1", envProcess: "cat", envVars: { A: "1" }, environmentFiles: ["a.env"], secrets: ["key"] },
    other: { image: "other:1", namespace: "prod" },
    made: { folder: "code", build: { registry: "ghcr.io/acme", tag: "v1" } },
  };
  const generated = await generate({
    content: { version: 1, namespace: "dev", functions },
    environments: { hello: { A: "0", B: "2" } },
  });
  expect(parseAllDocuments(generated).map((document) => document.toJS() as unknown)).toEqual([
    {
      apiVersion: "service.com/v1",
      kind: "Function",
      metadata: { name: "hello", namespace: "dev" },
      spec: { image: "hello:1", handler: "cat", environment: { A: "1", B: "2" }, secrets: ["key"] },
    },
    {
      apiVersion: "service.com/v1",
      kind: "Function",
      metadata: { name: "other", namespace: "prod" },
      spec: { image: "other:1" },
    },
    {
      apiVersion: "service.com/v1",
      kind: "Function",
      metadata: { name: "made", namespace: "dev" },
      spec: { image: "ghcr.io/acme/made:v1" },
    },
  ]);
});

test("an image that a cluster cannot pull is refused", async () => {
  const functions = { made: { folder: "code" } };
  const generated = generate({ content: { version: 1, functions }, environments: {} });
  await expect(generated).rejects.toMatchObject({ exit: 2 });
  await expect(generated).rejects.toThrow(
    'Cannot generate "made": a cluster cannot pull its image; set build.registry, or image',
  );
});
