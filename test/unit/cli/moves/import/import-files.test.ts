import { parseAllDocuments, parse } from "yaml";
import { Value } from "typebox/value";
import { describe, expect, test } from "vitest";

import { FunctionDeployment } from "../../../../../runtime/api/schemas/function-deployment.ts";
import { customResources } from "../../../../../runtime/api/resources/custom-resources.ts";
import { importFiles } from "../../../../../runtime/cli/moves/import/import-files.ts";
import type { MoveRow } from "../../../../../runtime/cli/moves/report/move-report.ts";
import { schemaProblems } from "../../../../../runtime/cli/project/check-schema.ts";
import { ProjectFile } from "../../../../../runtime/cli/project/project-schema.ts";
import { readLocated } from "../../../../../runtime/cli/project/read-located.ts";
import {
  importSample,
  importText,
  readSample,
  sampleDirectory,
  sampleNames,
} from "../../../../support/import-samples.ts";

const names = await sampleNames();
const stacks = names.filter((name) => name.startsWith("stack-"));
const objects = names.filter((name) => !name.startsWith("stack-"));

/** Fields of a stack file by its public reference, with `*` for names that people choose. */
const documented = [
  "version",
  "provider.name",
  "provider.gateway",
  "configuration.templates",
  "configuration.copy",
  ...[
    "lang handler image skip_build build_options build_args.* build_secrets platforms",
    "fprocess namespace environment.* environment_file[*] secrets constraints labels.* annotations.*",
    "limits.memory limits.cpu requests.memory requests.cpu readonly_root_filesystem",
  ].flatMap((fields) => fields.split(" ").map((field) => `functions.*.${field}`)),
];

test("there are twelve samples", () => {
  expect(names).toHaveLength(12);
});

describe.each(names)("%s", (name) => {
  test("has a row for every value in it", async () => {
    const { rows } = await importSample(name);
    const fields = rows.map(({ field }) => field);
    for (const path of leavesOf(await readSample(name)))
      expect(
        fields.some((field) => path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`)),
        path,
      ).toBe(true);
  });

  test("its rows name the lines", async () => {
    const lines = (await readSample(name)).split("\n");
    for (const { line, field } of (await importSample(name)).rows) {
      const key = /(?:^|[.: ])([^.: [\]]+)(?:\[\d+\])?$/.exec(field)?.[1] ?? "";
      const near = lines.slice(Math.max(0, line - 2), line).join("\n");
      if (/^[a-z_]+$/.test(key) && /[:.]/.test(field) && !field.includes("[")) expect(near, field).toContain(key);
    }
  });

  test("makes only what Weir takes", async () => {
    const { project, manifests } = await importSample(name);
    if (project !== undefined) expect(problemsOf(project)).toEqual([]);
    for (const document of parseAllDocuments(manifests ?? "")) {
      const value = document.toJS() as { kind: string; spec: unknown };
      const resource = Object.values(customResources).find(({ kind }) => kind === value.kind);
      expect(resource, value.kind).toBeDefined();
      expect([...Value.Errors(resource?.spec ?? {}, value.spec)]).toEqual([]);
    }
  });
});

test.each(objects.filter((name) => name !== "other-kinds.yml"))("%s becomes the same again", async (name) => {
  const first = await importSample(name, true);
  expect(first.manifests).toContain("service.com/v1");
  const second = await importText((first.manifests ?? "").replaceAll("service.com/v1", "openfaas.com/v1"), true);
  expect(second.manifests).toBe(first.manifests);
  expect(second.rows.filter(({ result }) => result === "not supported")).toEqual([]);
});

test.each(documented)("the samples have the documented field %s", async (field) => {
  const pattern = new RegExp(`^${RegExp.escape(field).replaceAll("\\*", "[^ ]+?")}$`);
  const rows = (await Promise.all(stacks.map((name) => importSample(name)))).flatMap((each) => each.rows);
  expect(rows.filter((row) => pattern.test(row.field))).not.toEqual([]);
});

describe("every key has a row", async () => {
  const imported = await Promise.all(
    [...stacks, "generated"].map(async (name) => (name === "generated" ? importText(recorded) : importSample(name))),
  );
  const reached = new Set(imported.flatMap(({ rows }) => rows.flatMap(targetsOf)));

  test.each(Object.keys(FunctionDeployment.properties).filter((key) => key !== "service"))(
    "%s of a deployment",
    (key) => {
      expect([...reached]).toContain(key);
    },
  );

  test.each(projectFunctionKeys())("%s of weir.yaml", (key) => {
    expect([...reached]).toContain(key);
  });

  test.each(Object.keys(customResources.function.spec.properties))("%s of a Function object", async (key) => {
    const rows = (await Promise.all(objects.map((name) => importSample(name)))).flatMap((each) => each.rows);
    expect(rows.some(({ field }) => new RegExp(`^Function \\S+: spec\\.${key}(?:\\.|$)`).test(field))).toBe(true);
  });
});

/** A Function object with all that weir.yaml has besides. */
const recorded = `# weir.yaml: {"gateway":"http://127.0.0.1:8080","function":{"folder":"code","environmentFiles":["a.env"],"fileVariables":["A"],"build":{"tag":"v1"},"run":{"process":"./a"}}}
apiVersion: service.com/v1
kind: Function
metadata:
  name: hello
  namespace: dev
spec:
  image: hello:1
  handler: cat
  environment:
    A: "1"
`;

test("a Function object of Weir becomes a function of weir.yaml, with what its comment keeps", async () => {
  const { project, rows, manifests } = await importText(recorded);
  expect(manifests).toBeUndefined();
  expect(parse(project ?? "")).toEqual({
    version: 1,
    gateway: "http://127.0.0.1:8080",
    functions: {
      hello: {
        image: "hello:1",
        namespace: "dev",
        envProcess: "cat",
        folder: "code",
        environmentFiles: ["a.env"],
        build: { tag: "v1" },
        run: { process: "./a" },
      },
    },
  });
  expect(rows.filter(({ result }) => result === "not supported")).toEqual([]);
});

test("a comment that cannot be read is said, and the function is still taken", async () => {
  const { project, rows } = await importText(recorded.replace('"folder":"code"', '"folder":7,"shell":"rm"'));
  expect(parse(project ?? "")).toMatchObject({ functions: { hello: { image: "hello:1", build: { tag: "v1" } } } });
  expect(rows).toContainEqual(
    expect.objectContaining({ field: "Function hello: # weir.yaml.function.shell", result: "not supported" }),
  );
});

test("of several files every row names its own", async () => {
  const inputs = await Promise.all(
    ["stack-images.yml", "function.yml"].map(async (file) => ({
      file,
      text: await readSample(file),
      directory: sampleDirectory,
    })),
  );
  const { rows, project, manifests } = await importFiles(inputs, { directory: sampleDirectory, renameKeys: false });
  expect(project).toContain("stronghash:");
  expect(manifests).toContain("kind: Function");
  expect(new Set(rows.map(({ file }) => file))).toEqual(new Set(["stack-images.yml", "function.yml"]));
});

test.each([
  ["two stack files", ["functions: {a: {image: x}}", "functions: {a: {image: y}}"], 'function "a" is there twice'],
  ["something else", ["services: {web: {image: x}}"], "neither a stack file nor an object"],
  ["a list", ["- a"], "neither a stack file nor an object"],
  ["a text", ["hello"], "neither a stack file nor an object"],
  ["no YAML", ["functions:\n  a: [1\n"], /^0:\d+:\d+: /],
  ["a key twice", ["functions: {}\nfunctions: {}"], /comes twice/],
  ["a hostile key", ["functions: {__proto__: {image: x}}"], /not allowed/],
  ["deep nesting", ["[".repeat(10_000)], /nested deeper/],
  [
    "a bomb of aliases",
    [`a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [${"*a,".repeat(60)}*a]\nc: [${"*b,".repeat(60)}*b]`],
    /aliases/,
  ],
  ["a huge file", [`#${"x".repeat(6_000_000)}`], /over 5242880 bytes/],
])("%s is refused", async (_name, texts, sentence) => {
  const inputs = texts.map((text, index) => ({ file: String(index), text, directory: sampleDirectory }));
  const imported = importFiles(inputs, { directory: sampleDirectory, renameKeys: false });
  await expect(imported).rejects.toMatchObject({ exit: 2 });
  await expect(imported).rejects.toThrow(sentence);
});

test("values of secrets are in nothing that is written", async () => {
  expect(JSON.stringify(await importSample("other-kinds.yml"))).not.toContain("not-copied");
});

/** Paths of all scalars in a file, as rows name them. */
function leavesOf(text: string): readonly string[] {
  return parseAllDocuments(text, { merge: true }).flatMap((document) => {
    const value = document.toJS() as Readonly<Record<string, unknown>> | null;
    const items =
      value?.["kind"] === "List" ? (value["items"] as readonly Readonly<Record<string, unknown>>[]) : [value];
    return items.flatMap((item) => {
      const title =
        item?.["kind"] === undefined ? "" : `${item["kind"] as string} ${(item["metadata"] as { name: string }).name}`;
      const all = leavesBelow(item, "");
      // What an unsupported object is called is in the row of the object.
      return all
        .map((path) => (title === "" ? path : `${title}: ${path}`))
        .filter((path) => !isNameOfUnsupported(path));
    });
  });
}

function isNameOfUnsupported(path: string): boolean {
  return /^(?!Function |Profile |JwtIssuer |Policy |Role )\S+ \S+: (?:apiVersion|kind|metadata\..*)$/.test(path);
}

function leavesBelow(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => leavesBelow(each, `${path}[${index}]`));
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([key, each]) => leavesBelow(each, path === "" ? key : `${path}.${key}`));
}

function problemsOf(project: string): readonly unknown[] {
  const { root, problems } = readLocated(project);
  if (root === undefined) return [project];
  // A text with a variable fits only when it is known.
  const found = [...schemaProblems(root, ProjectFile)].filter(({ sentence }) => !sentence.includes("${"));
  return [...problems, ...found];
}

/** First keys of the function that a row leads to. */
function targetsOf(row: MoveRow): readonly string[] {
  if (row.result === "not supported") return [];
  const own =
    /^functions\.[^.]+\.([a-z_A-Z]+)/.exec(row.field)?.[1] ?? /# weir\.yaml (\w+)$/.exec(row.field)?.[1] ?? "";
  return [(row.result === "same" ? own : row.to).split(".")[0] ?? ""];
}

function projectFunctionKeys(): readonly string[] {
  const { functions } = ProjectFile.properties as unknown as {
    readonly functions: { readonly additionalProperties: { readonly properties: object } };
  };
  return Object.keys(functions.additionalProperties.properties);
}
