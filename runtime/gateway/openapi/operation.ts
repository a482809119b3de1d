import type { TObject, TSchema } from "typebox";

import { editionNames, editions } from "../../api/editions.ts";
import { methodsOf, type RouteEntry } from "../rest/route.ts";
import { isJsonObject, toJson, type Json, type JsonObject } from "./json.ts";
import { responsesOf } from "./responses.ts";
import { schemaOf } from "./schemas.ts";

/** The OpenAPI operation of one route and method. */
export function operationOf(entry: RouteEntry): JsonObject {
  const { id, group, about, details, body, bodyOptional = false, bodyType = "application/json" } = entry;
  const parameters = [
    ...parametersOf("path", entry.params),
    ...parametersOf("query", entry.query),
    ...parametersOf("header", entry.headers),
  ];
  return {
    operationId: id,
    tags: [group],
    summary: about.replace(/\.$/, ""),
    ...(details === undefined ? {} : { description: details }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: !bodyOptional, content: { [bodyType]: { schema: schemaOf(body) } } } }),
    responses: responsesOf(entry),
    security: securityOf(entry),
    ...(entry.alike === undefined ? {} : { "x-weir-methods": methodsOf(entry) }),
    ...(entry.needs === "nothing" || entry.needs === "credentials" ? {} : { "x-weir-action": entry.needs }),
    ...(entry.iamOnly === true ? { "x-weir-editions": editionNames.filter((name) => editions[name].iam) } : {}),
  };
}

/** The path in the syntax of OpenAPI. */
export function documentPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, "{$1}").replace(/\*$/, "{path}");
}

/** Calls of functions need credentials only if the function requires them. */
function securityOf({ needs, handling }: RouteEntry): Json {
  const either = [{ basic: [] }, { bearer: [] }];
  if (needs !== "nothing") return either;
  return handling === "elsewhere" ? [{}, ...either] : [];
}

function parametersOf(place: "path" | "query" | "header", schema: TObject | undefined): JsonObject[] {
  const required = new Set<string>(schema?.required ?? []);
  return Object.entries<TSchema>(schema?.properties ?? {}).map(([name, property]) => {
    // A named schema is only referred to; its description is repeated here.
    const { description } = propertiesOf(toJson(property));
    const rest = Object.entries(propertiesOf(schemaOf(property))).filter(([key]) => key !== "description");
    return {
      name,
      in: place,
      ...(description === undefined ? {} : { description }),
      ...(required.has(name) ? { required: true } : {}),
      schema: Object.fromEntries(rest),
    };
  });
}

function propertiesOf(value: Json): JsonObject {
  return isJsonObject(value) ? value : {};
}
