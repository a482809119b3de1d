import fc from "fast-check";
import { Check } from "typebox/value";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";

import { schemaProblems } from "../../../../runtime/cli/project/check-schema.ts";
import { patternWords } from "../../../../runtime/cli/project/pattern-words.ts";
import { ProjectFile } from "../../../../runtime/cli/project/project-schema.ts";
import { readLocated } from "../../../../runtime/cli/project/read-located.ts";
import { arbitraryOf } from "../../../support/schema-arbitrary.ts";

function problemsOf(value: unknown): readonly string[] {
  const { root, problems } = readLocated(stringify(value, { aliasDuplicateObjects: false }));
  if (root === undefined) throw new Error(JSON.stringify(problems));
  return [...problems, ...schemaProblems(root, ProjectFile)].map(({ sentence }) => sentence);
}

const functionKeys: readonly string[] = Object.keys(
  (JSON.parse(JSON.stringify(ProjectFile.properties.functions)) as FunctionsSchema).additionalProperties.properties,
);

interface FunctionsSchema {
  readonly additionalProperties: { readonly properties: object };
}

const valid = { version: 1, functions: { hello: { image: "x" } } };

describe("schemaProblems()", () => {
  test("finds nothing in a file with every key", () => {
    const hello = {
      image: "ghcr.io/acme/hello:1",
      namespace: "shop",
      envProcess: "cat",
      envVars: { A: "1" },
      labels: { "com.service.scale.min": "2" },
      annotations: { note: "any text: ü" },
      secrets: ["api-key"],
      constraints: ["zone=a"],
      limits: { memory: "128Mi" },
      requests: { cpu: "1" },
      readOnlyRootFilesystem: true,
      folder: ".",
      environmentFiles: ["a.env"],
      build: {
        dockerfile: "Dockerfile",
        context: ".",
        args: { BASE: "x" },
        target: "run",
        platforms: ["linux/arm64/v8"],
        registry: "localhost:5000/acme",
        tag: "v1.2",
      },
      run: { prepare: ["npm ci"], process: "node server.js" },
    };
    expect(problemsOf({ version: 1, gateway: "http://x", namespace: "shop", functions: { hello } })).toEqual([]);
    expect(Object.keys(hello).toSorted()).toEqual(functionKeys.toSorted());
  });

  test("finds a problem in exactly the files that do not fit the JSON schema", () => {
    const { version: _, ...others } = ProjectFile.properties;
    const fitting = arbitraryOf(withoutAnyOf({ type: "object", required: ["functions"], properties: others })).map(
      (file) => ({ version: 1, ...(file as object) }),
    );
    const broken = fc
      .tuple(fitting, fc.nat(), fc.constantFrom(null, 7, true, "", "A b", [], {}, ["", ""]))
      .map(([file, at, other]) => replacedAt(file, at, other));
    fc.assert(
      fc.property(fc.oneof(fitting, broken), (value) => {
        expect(problemsOf(value).length === 0).toBe(Check(ProjectFile, value));
      }),
      { numRuns: 300 },
    );
  });

  test("counts characters, not code units", () => {
    const file = (process: string): object => ({ version: 1, functions: { a: { image: "x", run: { process } } } });
    expect(problemsOf(file("😀".repeat(4_096)))).toEqual([]);
    expect(problemsOf(file("😀".repeat(4_097)))).toEqual([
      expect.stringMatching(/^Cannot read functions\.a\.run\.process: expected at most 4096 characters, got "😀/),
    ]);
  });

  test.each([
    ["no version", { functions: { a: { image: "x" } } }, ["Cannot read version: it is required"]],
    [
      "a misspelt one",
      { versoin: 1, functions: { a: { image: "x" } } },
      ["Cannot read versoin: no such key; did you mean version?"],
    ],
    [
      "501 functions",
      {
        ...valid,
        functions: Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`f${index}`, { image: "x" }])),
      },
      ["Cannot read functions: expected at most 500 keys"],
    ],
    [
      "no platform",
      { version: 1, functions: { a: { build: { platforms: [] } } } },
      ["Cannot read functions.a.build.platforms: it is empty"],
    ],
    [
      "33 files",
      { version: 1, functions: { a: { image: "x", environmentFiles: Array.from({ length: 33 }, () => "f") } } },
      ["Cannot read functions.a.environmentFiles: expected at most 32 items"],
    ],
  ])("%s", (_name, value, expected) => {
    expect(problemsOf(value)).toEqual(expected);
  });
});

test("every pattern of the schema has words", () => {
  const patterns = [...JSON.stringify(ProjectFile).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
    ([, text = '""']) => JSON.parse(text) as string,
  );
  expect(patterns.length).toBeGreaterThan(20);
  expect(patterns.filter((pattern) => patternWords(pattern).startsWith("text like"))).toEqual([]);
});

/** A schema without the keyword that the arbitrary reads differently; what it makes may then not fit. */
function withoutAnyOf(schema: object): object {
  return JSON.parse(JSON.stringify(schema, (key, value: unknown) => (key === "anyOf" ? undefined : value))) as object;
}

/** `value` with the part that is `at`th in it replaced. */
function replacedAt(value: unknown, at: number, other: unknown): unknown {
  const places: ((replacement: unknown) => unknown)[] = [];
  const walk = (part: unknown, rebuild: (replacement: unknown) => unknown): void => {
    places.push(rebuild);
    if (Array.isArray(part))
      part.forEach((item, index) => walk(item, (replacement) => rebuild(part.with(index, replacement))));
    else if (typeof part === "object" && part !== null)
      for (const [key, inner] of Object.entries(part))
        walk(inner, (replacement) => rebuild({ ...part, [key]: replacement }));
  };
  walk(value, (replacement) => replacement);
  return places[at % places.length]?.(other);
}
