import { Ajv } from "ajv";
import fc from "fast-check";
import { Check } from "typebox/value";
import { describe, expect, test } from "vitest";

import { customResourceDefinition } from "../../../../../infra/manifests/definitions/custom-resource-definitions.ts";
import { structuralSchema, type Plain } from "../../../../../infra/manifests/definitions/structural-schema.ts";
import { definitionFiles } from "../../../../../scripts/crds/definition-files.ts";
import { staleAmong } from "../../../../../scripts/written-file.ts";
import { customResources, type CustomResource } from "../../../../../runtime/api/resources/custom-resources.ts";
import { goodRows } from "../../../../support/custom-resource-rows.ts";
import { arbitraryOf } from "../../../../support/schema-arbitrary.ts";

const resources = Object.values<CustomResource>(customResources);
const parts = resources.flatMap((resource) => [
  [`${resource.kind} spec`, resource.spec] as const,
  [`${resource.kind} status`, resource.status] as const,
]);

/** Schemas within a schema, each with its path. */
function* schemasIn(schema: Plain | undefined, path: string): Generator<[string, Readonly<Record<string, Plain>>]> {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return;
  const here = schema as Readonly<Record<string, Plain>>;
  yield [path, here];
  for (const [name, property] of Object.entries(here["properties"] ?? {})) {
    yield* schemasIn(property as Plain, `${path}.${name}`);
  }
  yield* schemasIn(here["items"], `${path}[]`);
  yield* schemasIn(here["additionalProperties"], `${path}.*`);
}

/** The structural schema as JSON Schema: fields that the API server would drop are refused. */
function closed(schema: Plain): Plain {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema)
    .filter(([keyword]) => !keyword.startsWith("x-kubernetes-"))
    .map(([keyword, value]) => [
      keyword,
      keyword === "pattern" && typeof value === "string" ? value.replaceAll(/\\x\{(\d+)\}/g, "\\u$1") : closed(value),
    ]);
  const properties = (schema as { properties?: Plain }).properties;
  return { ...Object.fromEntries(entries), ...(properties === undefined ? {} : { additionalProperties: false }) };
}

test.each(parts)("what the schema of %s accepts is kept by the API server", (_, schema) => {
  const accepts = new Ajv({ strict: false, formats: { "date-time": true } }).compile(
    closed(structuralSchema(schema)) as object,
  );
  fc.assert(
    fc.property(arbitraryOf(schema), (value) => {
      expect(Check(schema, value)).toBe(true);
      expect(accepts(value) ? [] : accepts.errors).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test.each(parts)("every value in %s has a bound", (name, schema) => {
  const unbound = [...schemasIn(structuralSchema(schema), name)]
    .filter(([, part]) => {
      if (part["x-kubernetes-preserve-unknown-fields"] === true) return false;
      if (part["type"] === "string") return (part["maxLength"] ?? part["enum"] ?? part["format"]) === undefined;
      if (part["type"] === "array") return part["maxItems"] === undefined;
      return part["additionalProperties"] !== undefined && part["maxProperties"] === undefined;
    })
    .map(([path]) => path);
  expect(unbound).toEqual([]);
});

test.each(resources)("every field of $kind has a description", ({ spec, status }) => {
  const silent = [...schemasIn(structuralSchema(spec), "spec"), ...schemasIn(structuralSchema(status), "status")]
    .filter(([path, part]) => part["description"] === undefined && !/(?:\[\]|\.\*)$/.test(path))
    .map(([path]) => path);
  expect(silent).toEqual([]);
});

test("the schemas accept what the API server accepts", () => {
  for (const { kind, spec } of goodRows) expect([kind, Check(customResources[kind].spec, spec)]).toEqual([kind, true]);
});

describe("customResourceDefinition()", () => {
  test("serves kubectl scale and autoscalers for functions, a status for all, and a category", () => {
    const facts = resources.map((resource) => {
      const { spec } = customResourceDefinition(resource) as unknown as {
        spec: { scope: string; names: object; versions: readonly { subresources: object }[] };
      };
      return { scope: spec.scope, ...spec.names, ...spec.versions[0]?.subresources };
    });
    expect(facts[0]).toMatchObject({
      scope: "Namespaced",
      kind: "Function",
      shortNames: ["fn"],
      scale: { specReplicasPath: ".spec.replicas", labelSelectorPath: ".status.selector" },
    });
    for (const fact of facts) expect(fact).toMatchObject({ categories: ["weir"], status: {} });
    expect(facts.slice(1).filter((fact) => "scale" in fact)).toEqual([]);
  });
});

test("the committed definitions are those of the schemas", async () => {
  expect(await staleAmong(await definitionFiles(), new URL("../../../../../", import.meta.url))).toEqual([]);
});
