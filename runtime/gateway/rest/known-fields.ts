import { nearestName } from "../../api/closest-name.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { quote } from "../../core/quote.ts";
import type { RouteEntry } from "./route.ts";

/**
 * The body with the fields that its route knows. Unknown ones are dropped, or refused if the route lists those that it
 * ignores: otherwise a misspelt field of a deployment would be lost silently. An absent field is taken from its
 * fallback; if both are sent with different values, the body is refused.
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
  const sent = new Map<string, unknown>(Object.entries(body));
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
