import type { TSchema } from "typebox";

import { components } from "../../api/schemas/components.ts";
import { isJsonObject, toJson, type Json, type JsonObject } from "./json.ts";

/** Keys whose values are data, not schemas. */
const dataKeys: ReadonlySet<string> = new Set(["examples", "default", "enum", "const"]);

const names: ReadonlySet<string> = new Set(components.map(nameOf));

/** The named schemas of the document, sorted by name. */
export function schemaComponents(): JsonObject {
  return Object.fromEntries(
    components
      .map((schema) => [nameOf(schema), bodyOf(toJson(schema))] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** A schema as the document shows it, with references to its named parts. */
export function schemaOf(schema: TSchema): Json {
  return withReferences(toJson(schema));
}

function nameOf(schema: TSchema): string {
  const title: unknown = "title" in schema ? schema.title : undefined;
  if (typeof title === "string") return title;
  throw new Error(`Cannot name a schema: it has no title: ${JSON.stringify(schema)}`);
}

function withReferences(schema: Json): Json {
  if (isJsonObject(schema) && typeof schema["title"] === "string" && names.has(schema["title"])) {
    return { $ref: `#/components/schemas/${schema["title"]}` };
  }
  return bodyOf(schema);
}

/** The schema itself, with references inside but without its name, by which the document refers to it. */
function bodyOf(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withReferences);
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => key !== "title" || typeof value !== "string")
      .map(([key, value]) => [key, dataKeys.has(key) ? value : withReferences(value)]),
  );
}
