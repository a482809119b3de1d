import { STATUS_CODES } from "node:http";

import type { TSchema } from "typebox";

import { header } from "../../api/names.ts";
import { errorCodes, type ErrorCode } from "../../api/platform-error.ts";
import { ProblemDetails } from "../../api/schemas/problem-details.ts";
import { eventStreamType } from "../../core/watch/event-text.ts";
import { statusOf } from "../error-handler.ts";
import type { RouteResponse, RouteEntry } from "../rest/route.ts";
import { errorMeanings } from "./error-meanings.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import { errorsOf } from "./route-errors.ts";
import { schemaOf } from "./schemas.ts";

const lines = "application/x-ndjson";
const bytes: JsonObject = { type: "string", format: "binary" };
const text = (description: string): JsonObject => ({ description, schema: { type: "string" } });

/** Headers that several responses share. */
export const headerComponents: JsonObject = {
  Allow: text("Methods that the path has"),
  RetryAfter: {
    description: "Seconds to wait before a retry",
    schema: { type: "integer", minimum: 1, maximum: 30 },
  },
  WwwAuthenticate: text("How to authenticate"),
  ApiVersion: text("Version of this API, major.minor"),
};

const errorHeaders: Readonly<Record<number, JsonObject>> = {
  401: { "WWW-Authenticate": { $ref: "#/components/headers/WwwAuthenticate" } },
  405: { Allow: { $ref: "#/components/headers/Allow" } },
  429: { "Retry-After": { $ref: "#/components/headers/RetryAfter" } },
  503: { "Retry-After": { $ref: "#/components/headers/RetryAfter" } },
};

const errorContent: JsonObject = {
  "application/problem+json": { schema: schemaOf(ProblemDetails) },
  "text/plain": { schema: { type: "string", description: "The sentence and a newline" } },
};

/**
 * One response per error status, with every code that it can have, and a second one for calls, where the function may
 * reply with the same status.
 */
export const responseComponents: JsonObject = Object.fromEntries(
  [...Map.groupBy(errorCodes, statusOf)]
    .toSorted(([one], [other]) => one - other)
    .flatMap(([status, codes]) => [
      [nameOf(status, false), errorResponse(status, codes)],
      [nameOf(status, true), callErrorResponse(status, codes)],
    ]),
);

/** All responses of a route, by status. */
export function responsesOf(entry: RouteEntry): JsonObject {
  const byFunction = entry.responses.some(({ status }) => status === "default");
  const responses: Record<string, JsonObject> = {};
  for (const response of entry.responses) responses[String(response.status)] = successResponse(response, entry);
  // Generated clients treat a response that is only the default one as an error.
  if (responses["default"] !== undefined) responses["2XX"] = responses["default"];
  for (const [status, codes] of errorsOf(entry)) {
    const response = responses[String(status)];
    responses[String(status)] =
      response === undefined
        ? { $ref: `#/components/responses/${nameOf(status, byFunction)}`, description: codesIn(codes) }
        : { ...response, content: { ...contentOf(response), ...errorContent } };
  }
  return responses;
}

function successResponse(
  { about, schema, type = "application/json", headers = {} }: RouteResponse,
  entry: RouteEntry,
): JsonObject {
  const named = Object.entries(headers).map(([name, description]) => [name, text(description)] as const);
  const versioned = entry.path.startsWith("/system/")
    ? { [header.apiVersion]: { $ref: "#/components/headers/ApiVersion" } }
    : {};
  const all: JsonObject = { ...versioned, ...Object.fromEntries(named) };
  return {
    description: about,
    ...(Object.keys(all).length === 0 ? {} : { headers: all }),
    ...(schema === undefined ? {} : { content: { [type]: { schema: bodyOf(type, schema) } } }),
  };
}

function bodyOf(type: string, schema: TSchema): Json {
  if (type === lines) return linesOf(schema);
  return type === eventStreamType ? eventsOf(schema) : schemaOf(schema);
}

/** Binary for the same reason as lines. */
function eventsOf(schema: TSchema): JsonObject {
  const description = "Server-sent events with JSON as data; comments show that the stream is alive";
  return { ...bytes, description, contentMediaType: eventStreamType, contentSchema: schemaOf(schema) };
}

/** Binary, because the body as a whole is not JSON: generated clients that take it for text or JSON refuse its type. */
function linesOf(schema: TSchema): JsonObject {
  const description = "One JSON object per line; empty lines show that the stream is alive";
  return { ...bytes, description, contentMediaType: lines, contentSchema: schemaOf(schema) };
}

function errorResponse(status: number, codes: readonly ErrorCode[]): JsonObject {
  const headers = errorHeaders[status];
  return { description: describe(codes), ...(headers === undefined ? {} : { headers }), content: errorContent };
}

function callErrorResponse(status: number, codes: readonly ErrorCode[]): JsonObject {
  return {
    ...errorResponse(status, codes),
    description: `${describe(codes)}. Or the function's reply`,
    // Listed first, because generated clients use the first: a function's reply need not be JSON.
    content: { "*/*": { schema: bytes }, ...errorContent },
  };
}

function codesIn(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `\`${code}\``).join(", ");
}

function describe(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `\`${code}\`: ${errorMeanings[code]}`).join(". ");
}

function contentOf(response: JsonObject): JsonObject {
  const content = response["content"];
  return isJsonObject(content) ? content : {};
}

/** `NotFound` for 404; `NotFoundOrReply` where a function may reply with it, too. */
function nameOf(status: number, byFunction: boolean): string {
  return `${(STATUS_CODES[status] ?? String(status)).replaceAll(/[^A-Za-z]/g, "")}${byFunction ? "OrReply" : ""}`;
}
