import { Ajv2020 } from "ajv/dist/2020.js";
import ajvFormats from "ajv-formats";

import { openEnumKeyword } from "../../runtime/api/schemas/open-enum.ts";
import { eventStreamType } from "../../runtime/core/watch/event-text.ts";
import { buildDocument } from "../../runtime/gateway/openapi/build-document.ts";
import { isJsonObject, type JsonObject } from "../../runtime/gateway/openapi/json.ts";
import { documentPath } from "../../runtime/gateway/openapi/operation.ts";
import { errorsOf } from "../../runtime/gateway/openapi/route-errors.ts";
import { pathsOf, routeTable } from "../../runtime/gateway/rest/route-table.ts";
import { methodsOf, type RouteEntry } from "../../runtime/gateway/rest/route.ts";

/** Of bodies that may not end. */
const streamTypes: ReadonlySet<string | undefined> = new Set(["application/x-ndjson", eventStreamType]);

/** The OpenAPI document of the gateway. */
export const apiDocument: JsonObject = buildDocument(routeTable);

const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
// Clients must accept other values; the gateway sends no others.
ajv.addKeyword({
  keyword: openEnumKeyword,
  schemaType: "array",
  validate: (values: readonly unknown[], value: unknown) => values.includes(value),
});
ajvFormats.default(ajv);
ajv.addSchema(apiDocument, "openapi.json");

/** Validation errors of `value` against the schema at a JSON pointer of the document; empty if it is valid. */
export function schemaFindings(pointer: string, value: unknown): string[] {
  const validate = ajv.compile({ $ref: `openapi.json#${pointer}` });
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ""}`);
}

/** The JSON pointer of these keys. */
export function pointerTo(...keys: readonly string[]): string {
  return keys.map((key) => `/${encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"))}`).join("");
}

/** The operation that serves a request, if there is one. */
export function operationFor(method: string, target: string): RouteEntry | undefined {
  const path = target.split("?", 1)[0] ?? "";
  const found = routeTable.filter((entry) => pathsOf(entry).some((pattern) => patternOf(pattern).test(path)));
  const has = (entry: RouteEntry, name: string) => methodsOf(entry).some((each) => each === name);
  const verb = method === "HEAD" && !found.some((entry) => has(entry, "HEAD")) ? "GET" : method;
  // `/async-function/{target}/result` before `/async-function/{target}/{path}`.
  return found.filter((entry) => has(entry, verb)).toSorted((one, other) => wildcard(one) - wildcard(other))[0];
}

/**
 * Checks a response against the document: status, media type, body. The body of a stream is not read.
 * @throws Error that lists every mismatch
 */
export async function checkAnswer(method: string, target: string, response: Response): Promise<void> {
  const entry = operationFor(method, target);
  // No such route or method: 404 or 405, which the document does not describe.
  if (entry === undefined || entry.documented === false) return;
  const type = response.headers.get("content-type")?.split(";", 1)[0];
  const body = streamTypes.has(type) ? undefined : await response.clone().text();
  const findings = responseFindings(entry, response.status, type, method === "HEAD" ? undefined : body);
  if (findings.length === 0) return;
  throw new Error(
    `${method} ${target} answered ${response.status} ${type ?? ""}: ${findings.join("; ")}\n${body ?? ""}`,
  );
}

function responseFindings(entry: RouteEntry, status: number, type: string | undefined, body?: string): string[] {
  const place = ["paths", documentPath(entry.path), entry.method.toLowerCase(), "responses"];
  const responses = at(...place);
  const key = Object.hasOwn(responses, String(status)) ? String(status) : "default";
  if (!Object.hasOwn(responses, key)) return [`the document of ${entry.id} has no status ${status}`];
  const reference = at(...place, key)["$ref"];
  const where = typeof reference === "string" ? reference.split("/").slice(1) : [...place, key];
  const content = at(...where)["content"];
  if (!isJsonObject(content)) return body === undefined || body === "" ? [] : ["the document says that it is empty"];
  const media = [type ?? "", "*/*"].find((candidate) => Object.hasOwn(content, candidate));
  if (media === undefined) return body === "" && type === undefined ? [] : [`the document has no type "${type ?? ""}"`];
  if (body === undefined || !/[/+]json$/.test(media)) return [];
  const value: unknown = JSON.parse(body);
  return [
    ...schemaFindings(pointerTo(...where, "content", media, "schema"), value),
    ...codeFindings(entry, status, value),
  ];
}

/** Reports a problem whose code the route does not list. */
function codeFindings(entry: RouteEntry, status: number, value: unknown): string[] {
  if (typeof value !== "object" || value === null || !("code" in value)) return [];
  const known = (errorsOf(entry).get(status) ?? []).some((code) => code === value.code);
  return known ? [] : [`the route table does not say that ${entry.id} gives ${String(value.code)}`];
}

function at(...keys: readonly string[]): JsonObject {
  let found: JsonObject = apiDocument;
  for (const key of keys) {
    const next = found[key];
    if (!isJsonObject(next)) throw new Error(`Cannot find ${keys.join(" > ")} in the document: ${key} is missing`);
    found = next;
  }
  return found;
}

function patternOf(path: string): RegExp {
  const tail = path.endsWith("*");
  const source = path
    .replace(/\*$/, "")
    .split("/")
    .map((segment) => (segment.startsWith(":") ? "[^/]+" : RegExp.escape(segment)))
    .join("/");
  return new RegExp(`^${source}${tail ? ".*" : ""}$`);
}

function wildcard({ path }: RouteEntry): number {
  return path.endsWith("*") ? 1 : 0;
}
