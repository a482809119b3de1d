import type { TSchema } from "typebox";

import { openEnumKeyword } from "../../runtime/api/schemas/open-enum.ts";
import { isJsonObject, type Json, type JsonObject } from "../../runtime/gateway/openapi/json.ts";
import { schemaComponents, schemaOf } from "../../runtime/gateway/openapi/schemas.ts";

/** Every named schema with its fields, in Markdown. */
export function typesSection(): string {
  const types = Object.entries(schemaComponents()).map(([name, schema]) =>
    isJsonObject(schema) ? `### ${name}\n\n${about(schema).replace(/\.$/, "")}.\n\n${fields(schema)}` : "",
  );
  return `## Types\n\n${types.join("\n\n")}`;
}

/** A schema in a few words, with links to the named ones; undefined for bytes. */
export function typeName(schema: TSchema): string | undefined {
  const shown = schemaOf(schema);
  if (isJsonObject(shown) && shown["format"] === "binary") return undefined;
  return words(shown);
}

function fields(schema: JsonObject): string {
  const properties = schema["properties"];
  if (!isJsonObject(properties)) return capital(`${words(schema)}.`);
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const rows = Object.entries(properties).map(([name, property]) => {
    return `| \`${name}\` | ${words(property)} | ${required.includes(name) ? "yes" : ""} | ${about(property)} |`;
  });
  return ["| Field | Type | Required | Meaning |", "|---|---|---|---|", ...rows].join("\n");
}

/** The description of a schema, or of the named schema that it references. */
function about(schema: Json): string {
  if (!isJsonObject(schema)) return "";
  const reference = schema["$ref"];
  const named = typeof reference === "string" ? schemaComponents()[nameIn(reference)] : undefined;
  return named === undefined ? text(schema["description"]) : about(named);
}

function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

function words(schema: Json | undefined): string {
  if (!isJsonObject(schema)) return "anything";
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    const name = nameIn(reference);
    return `[${name}](#${name.toLowerCase()})`;
  }
  const values = schema["enum"] ?? schema[openEnumKeyword];
  if (Array.isArray(values)) {
    const listed = values.map((value) => `\`${text(value)}\``).join(", ");
    return schema["enum"] === undefined ? `text; now ${listed}` : listed;
  }
  switch (schema["type"]) {
    case "array":
      return `list of ${words(schema["items"])}${most(schema["maxItems"], "")}`;
    case "object":
      return isJsonObject(schema["additionalProperties"])
        ? `map to text${most(schema["maxProperties"], " keys")}`
        : "object";
    case "string":
      return `text${most(schema["maxLength"], " characters")}${format(schema["format"])}`;
    case "integer":
      return `whole number${bounds(schema)}`;
    case "number":
      return `number${bounds(schema)}`;
    case "boolean":
      return "true or false";
    default:
      return "anything";
  }
}

/** A sentence with its first letter in upper case. */
export function capital(sentence: string): string {
  return sentence.slice(0, 1).toUpperCase() + sentence.slice(1);
}

function most(limit: Json | undefined, unit: string): string {
  return typeof limit === "number" ? `, at most ${limit}${unit}` : "";
}

function bounds({ minimum, maximum }: JsonObject): string {
  const parts = [
    ...(typeof minimum === "number" ? [`from ${minimum}`] : []),
    ...(typeof maximum === "number" ? [`up to ${maximum}`] : []),
  ];
  return parts.length === 0 ? "" : `, ${parts.join(" ")}`;
}

function format(name: Json | undefined): string {
  return typeof name === "string" ? ` (${name})` : "";
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value.replaceAll("|", "\\|") : "";
}
