import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { apiVersion } from "../../../../runtime/api/version.ts";
import { components } from "../../../../runtime/api/schemas/components.ts";
import { openEnumKeyword } from "../../../../runtime/api/schemas/open-enum.ts";
import { errorCodes } from "../../../../runtime/api/platform-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../../runtime/gateway/openapi/json.ts";
import { documentPath } from "../../../../runtime/gateway/openapi/operation.ts";
import { serveDocument } from "../../../../runtime/gateway/openapi/served-document.ts";
import { pathsOf, routeTable } from "../../../../runtime/gateway/rest/route-table.ts";
import { environment } from "../../../../runtime/process/settings.ts";
import { apiFiles } from "../../../../scripts/openapi/api-files.ts";
import { staleAmong } from "../../../../scripts/written-file.ts";
import { apiDocument, pointerTo, schemaFindings } from "../../../support/api-answers.ts";

const root = new URL("../../../../", import.meta.url);
const documented = routeTable.filter((entry) => entry.documented !== false);

test("openapi.json and docs/reference/api.md are those of the route table; else run npm run openapi", async () => {
  const stale = await staleAmong(await apiFiles(), root);
  expect(stale.map(({ path }) => path)).toEqual([]);
});

test("openapi.json passes the linter", async () => {
  const directory = fileURLToPath(root);
  const redocly = join(directory, "node_modules", "@redocly", "cli", "bin", "cli.js");
  const env = { ...environment(), REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const lint = promisify(execFile)(process.execPath, [redocly, "lint", "openapi.json"], { cwd: directory, env });
  await expect(lint).resolves.toMatchObject({ stderr: expect.stringContaining("Your API description is valid") });
});

test("both served texts have the same content, and so does the committed file", async () => {
  const { json, yaml } = serveDocument(() => apiDocument);
  const committed = await readFile(new URL("openapi.json", root), "utf8");
  expect(parse(yaml)).toEqual(JSON.parse(json));
  expect(JSON.parse(committed)).toEqual(JSON.parse(json));
});

test("its version is that of the API", () => {
  expect(at("info", "version")).toMatch(new RegExp(`^${RegExp.escape(apiVersion)}\\.\\d+$`));
});

describe("operations", () => {
  test("are the routes of the table, each once", () => {
    const table = documented.map(({ id, method, path }) => `${method} ${documentPath(path)} ${id}`);
    const paths = at("paths");
    const document = entries(paths).flatMap(([path, item]) =>
      entries(item).map(([method, operation]) => `${method.toUpperCase()} ${path} ${text(operation, "operationId")}`),
    );
    expect(document.toSorted()).toEqual(table.toSorted());
    expect(new Set(documented.map(({ id }) => id)).size).toBe(documented.length);
  });

  test("of a documented path are all in the document", () => {
    const shown = new Set(documented.map(({ path }) => path));
    const hidden = routeTable.filter(
      (entry) => entry.documented === false && pathsOf(entry).some((path) => shown.has(path)),
    );
    expect(hidden.map(({ id }) => id)).toEqual([]);
  });

  test.each(documented.map((entry) => [entry.id, entry] as const))("%s names its path parameters", (_id, entry) => {
    const inPath = [...documentPath(entry.path).matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
    expect(Object.keys(entry.params?.properties ?? {}).toSorted()).toEqual(inPath.toSorted());
  });

  test("of a route below /system/ may return the common statuses", () => {
    for (const { id, method, path } of documented) {
      const responses = Object.keys(at("paths", documentPath(path), method.toLowerCase(), "responses"));
      const usual = path.startsWith("/system/") ? ["400", "401", "403", "405", "413", "415", "429", "500", "503"] : [];
      expect([id, usual.filter((status) => !responses.includes(status))]).toEqual([id, []]);
    }
  });
});

describe("generated clients", () => {
  test("accept unknown values: no response has a closed list", () => {
    const responses = entries(at("paths")).flatMap(([, item]) =>
      entries(item).map(([, operation]) => (isJsonObject(operation) ? (operation["responses"] ?? {}) : {})),
    );
    const parts = [["a response", responses] as const, ...reachableFrom(responses)];
    const closed = parts.filter(([, part]) => /"(?:enum|const)":/.test(JSON.stringify(part)));
    expect(closed.map(([name]) => name)).toEqual([]);
    expect(at("components", "schemas", "ProblemDetails", "properties", "code")[openEnumKeyword]).toEqual(errorCodes);
  });

  test("have one operation per route of calls, with any query", () => {
    const calls = entries(at("paths")).filter(([path]) => path.startsWith("/function/"));
    expect(calls.map(([path, item]) => [path, ...entries(item).map(([method]) => method)])).toEqual([
      ["/function/{name}", "post"],
      ["/function/{name}/{path}", "post"],
    ]);
    for (const [path] of [...calls, ["/async-function/{target}"] as const]) {
      const { parameters } = at("paths", path, "post");
      expect(parameters, path).toContainEqual(
        expect.objectContaining({ name: "query", in: "query", schema: refTo("QueryParameters") }),
      );
    }
  });

  test("have a name for every nested object", () => {
    const inline = entries(at("components", "schemas")).flatMap(([name, schema]) =>
      entries(isJsonObject(schema) ? schema["properties"] : undefined)
        .filter(([, property]) => JSON.stringify(property).includes('"type":"object"'))
        .map(([field]) => `${name}.${field}`),
    );
    expect(inline).toEqual([]);
  });

  test("read the logs as bytes, and have the type of a line", () => {
    const schema = at("paths", "/system/logs", "get", "responses", "200", "content", "application/x-ndjson", "schema");
    expect(schema).toMatchObject({ type: "string", format: "binary", contentSchema: refTo("LogRecord") });
  });

  test("read a stream of events as bytes, and have the types of its data", () => {
    const schema = at("paths", "/system/watch", "get", "responses", "200", "content", "text/event-stream", "schema");
    expect(schema).toMatchObject({ type: "string", format: "binary" });
    const names = ["FunctionsEvent", "QueuesEvent", "CallsEvent", "WatchBye"];
    expect(schema["contentSchema"]).toMatchObject({ anyOf: expect.arrayContaining(names.map(refTo)) });
  });

  test("read the reply of a function as bytes, whatever its status", () => {
    for (const status of ["default", "2XX"]) {
      expect(at("paths", "/function/{name}", "post", "responses", status, "content")).toHaveProperty(
        ["*/*", "schema"],
        {
          type: "string",
          format: "binary",
        },
      );
    }
    const { content } = at("components", "responses", "NotFoundOrReply");
    expect(entries(content)[0]).toEqual(["*/*", { schema: { type: "string", format: "binary" } }]);
  });
});

describe("schemas", () => {
  const names = Object.keys(at("components", "schemas"));

  test("are the named ones of runtime/api", () => {
    expect(names).toHaveLength(components.length);
  });

  test.each(names)("%s is described, and its examples fit it", (name) => {
    const problems = problemsOf(at("components", "schemas", name), ["components", "schemas", name]);
    expect(problems).toEqual([]);
    expect(at("components", "schemas", name)).toHaveProperty("examples");
  });

  test.each(documented.map(({ id, method, path }) => [id, documentPath(path), method.toLowerCase()] as const))(
    "of the parameters of %s are described, and their examples fit",
    (_id, path, method) => {
      const { parameters = [] } = at("paths", path, method);
      if (!Array.isArray(parameters)) throw new Error("Cannot read the parameters: they are no list");
      for (const [index, parameter] of parameters.entries()) {
        expect(parameter).toHaveProperty("description");
        const keys = ["paths", path, method, "parameters", String(index), "schema"];
        const { schema } = parameter as { schema: JsonObject };
        expect(exampleProblems(schema, keys)).toEqual([]);
      }
    },
  );
});

function refTo(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** The parts of the document that `value` refers to, directly or through others, by pointer. */
function reachableFrom(value: Json, found = new Map<string, JsonObject>()): ReadonlyMap<string, JsonObject> {
  for (const [, pointer = ""] of JSON.stringify(value).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    if (found.has(pointer)) continue;
    const part = at(...pointer.split("/"));
    found.set(pointer, part);
    reachableFrom(part, found);
  }
  return found;
}

/** Fields without a description, and examples that do not fit. */
function problemsOf(schema: Json, keys: readonly string[]): string[] {
  if (!isJsonObject(schema) || schema["$ref"] !== undefined) return [];
  const undescribed = schema["description"] === undefined ? [`${keys.join(".")} has no description`] : [];
  const below = entries(schema["properties"]).flatMap(([name, property]) =>
    problemsOf(property, [...keys, "properties", name]),
  );
  return [...undescribed, ...exampleProblems(schema, keys), ...below];
}

function exampleProblems(schema: JsonObject, keys: readonly string[]): string[] {
  const examples = schema["examples"] ?? [];
  if (!Array.isArray(examples)) return [`${keys.join(".")} has examples that are no list`];
  return examples.flatMap((example: Json) => schemaFindings(pointerTo(...keys), example));
}

function at(...keys: readonly string[]): JsonObject {
  let found: Json | undefined = apiDocument;
  for (const key of keys) found = isJsonObject(found) ? found[key] : undefined;
  return found as JsonObject;
}

function entries(value: Json | undefined): [string, Json][] {
  return isJsonObject(value) ? Object.entries(value) : [];
}

function text(value: Json, key: string): string {
  const found = isJsonObject(value) ? value[key] : undefined;
  return typeof found === "string" ? found : "";
}
