import type { TSchema } from "typebox";

import { isJsonObject, type Json, type JsonObject } from "../../runtime/gateway/openapi/json.ts";
import { schemaComponents, schemaOf } from "../../runtime/gateway/openapi/schemas.ts";

/** Every named schema with its fields, in Markdown. */
export function typesSection(): string {
  const types = Object.entries(schemaComponents()).map(([name, schema]) =>
    isJsonObject(schema) ? `### ${name}\n\n${text(schema["description"])}.\n\n${fields(schema)}` : "",
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
  if (!isJsonObject(properties)) return `It is ${words(schema)}.`;
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const rows = Object.entries(properties).map(([name, property]) => {
    const about = isJsonObject(property) ? text(property["description"]) : "";
    return `| \`${name}\` | ${words(property)} | ${required.includes(name) ? "yes" : ""} | ${about} |`;
  });
  return ["| Field | Type | Required | Meaning |", "|---|---|---|---|", ...rows].join("\n");
}

function words(schema: Json | undefined): string {
  if (!isJsonObject(schema)) return "anything";
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    const name = reference.slice(reference.lastIndexOf("/") + 1);
    return `[${name}](#${name.toLowerCase()})`;
  }
  const values = schema["enum"];
  if (Array.isArray(values)) return values.map((value) => `\`${text(value)}\``).join(", ");
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
