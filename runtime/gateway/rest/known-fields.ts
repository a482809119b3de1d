import { nearestName } from "../../api/closest-name.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { quote } from "../../core/quote.ts";
import type { RouteEntry } from "./route.ts";

/**
 * The body with the fields that its route knows. Unknown ones are dropped, or refused if the route lists those that it
 * ignores: otherwise a misspelt field of a deployment would be lost silently. An absent field is taken from its
 * fallback; if both are sent with different values, the body is refused. An empty text that its schema refuses is
 * absent: clients of this API family send one for each field that their user left out.
 * @throws PlatformError `validation_failed`
 */
export function withKnownFields(
  body: unknown,
  entry: Pick<RouteEntry, "body" | "bodyOptional" | "ignoredFields" | "fallbackFields">,
): unknown {
  const { body: schema, bodyOptional = false, ignoredFields, fallbackFields = {} } = entry;
  const known = propertiesOf(schema);
  if (known !== undefined && body === null && !bodyOptional) {
    throw new PlatformError("validation_failed", "Cannot read the body: expected an object, got null");
  }
  if (known === undefined || typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const sent = new Map<string, unknown>(Object.entries(withoutEmptyTexts(body, schema)));
  for (const [name, fallback] of Object.entries(fallbackFields)) {
    const [value, other] = [sent.get(name), sent.get(fallback)];
    if (typeof value === "string" && typeof other === "string" && value !== other) {
      throw new PlatformError(
        "validation_failed",
        `Cannot read the body: its "${name}" is ${quote(value)}, its "${fallback}" is ${quote(other)}; send one of them`,
      );
    }
    if (value === undefined && other !== undefined) sent.set(name, other);
  }
  const members = [...sent];
  const unknown = members.find(([name]) => !Object.hasOwn(known, name) && ignoredFields?.includes(name) === false);
  if (unknown !== undefined) {
    const near = nearestName(unknown[0], Object.keys(known));
    const suggestion = near === undefined ? "" : `; did you mean "${near}"?`;
    throw new PlatformError(
      "validation_failed",
      `Cannot read field ${quote(unknown[0])}: there is no such field${suggestion}`,
    );
  }
  return Object.fromEntries(members.filter(([name]) => Object.hasOwn(known, name)));
}

function propertiesOf(schema: unknown): object | undefined {
  if (typeof schema !== "object" || schema === null || !("properties" in schema)) return undefined;
  return typeof schema.properties === "object" && schema.properties !== null ? schema.properties : undefined;
}

/** The part of a JSON schema that tells where an empty text says nothing. */
interface TextSchema {
  readonly type?: unknown;
  readonly pattern?: unknown;
  readonly minLength?: unknown;
  readonly format?: unknown;
  readonly enum?: unknown;
  readonly properties?: unknown;
  readonly additionalProperties?: unknown;
  readonly items?: unknown;
}

/** `body` without members and items that are empty texts where its schema takes none. */
function withoutEmptyTexts(body: object, schema: unknown): object {
  if (!isSchema(schema)) return body;
  const properties = propertiesOf(schema);
  const kept = Object.entries(body).flatMap(([name, value]): [string, unknown][] => {
    const known: unknown = new Map<string, unknown>(Object.entries(properties ?? {})).get(name);
    const each = known ?? schema.additionalProperties;
    if (value === "") return refusesEmpty(each) ? [] : [[name, value]];
    return [[name, cleanedValue(value, each)]];
  });
  return Object.fromEntries(kept);
}

function cleanedValue(value: unknown, schema: unknown): unknown {
  if (Array.isArray(value)) {
    const items = isSchema(schema) ? schema.items : undefined;
    return value.filter((each) => each !== "" || !refusesEmpty(items));
  }
  return typeof value === "object" && value !== null ? withoutEmptyTexts(value, schema) : value;
}

function refusesEmpty(schema: unknown): boolean {
  if (!isSchema(schema)) return false;
  if (schema.type !== undefined && schema.type !== "string") return true;
  if (typeof schema.pattern === "string") return !new RegExp(schema.pattern, "u").test("");
  return schema.format !== undefined || schema.enum !== undefined || typeof schema.minLength === "number";
}

function isSchema(value: unknown): value is TextSchema {
  return typeof value === "object" && value !== null;
}
