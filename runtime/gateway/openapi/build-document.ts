import { apiVersion } from "../../api/version.ts";
import type { RouteEntry, RouteGroup } from "../rest/route.ts";
import { type Json, type JsonObject } from "./json.ts";
import { documentPath, operationOf } from "./operation.ts";
import { headerComponents, responseComponents } from "./responses.ts";
import { schemaComponents } from "./schemas.ts";

/** The groups of routes in the order of the documents, each with its description. */
export const routeGroups: Readonly<Record<RouteGroup, string>> = {
  functions: "Deploy, show, scale and remove functions",
  calls: "Call a function and wait for its reply",
  "asynchronous calls": "Queue a call, show it, get its result, cancel it",
  "call history": "See what became of calls, and how functions were called over time",
  logs: "Read the logs of functions",
  secrets: "Store values that functions read as files",
  namespaces: "Separate functions from each other",
  queues: "Show queues and their dead letters",
  platform: "The platform itself",
  identity: "Tokens for clients other than the administrator; only in editions with IAM",
};

const description = `Deploy functions, call them, queue calls, keep secrets and namespaces, read logs.

HEAD works where GET does, except for logs. Invalid names are refused, never repaired. Unknown fields are ignored,
except in a FunctionDeployment, where they are refused; \`null\` means absent. Errors are one line of text, or
\`application/problem+json\` for clients that list \`application/json\` or \`application/problem+json\` in \`Accept\`.
Clients must ignore unknown fields, headers, codes and values.`;

/** The OpenAPI 3.1 document of `routes`. */
export function buildDocument(routes: readonly RouteEntry[]): JsonObject {
  const paths = pathsOf(routes.filter(({ documented }) => documented !== false));
  return {
    openapi: "3.1.0",
    info: {
      title: "Weir",
      summary: "A function platform",
      description,
      version: `${apiVersion}.0`,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [
      {
        url: "{base_url}",
        description: "The gateway",
        variables: { base_url: { default: "http://127.0.0.1:8080", description: "Address of the gateway" } },
      },
    ],
    tags: Object.entries(routeGroups).map(([name, about]) => ({ name, description: about })),
    paths,
    components: {
      securitySchemes: {
        basic: { type: "http", scheme: "basic", description: "The administrator" },
        bearer: { type: "http", scheme: "bearer", description: "A token of this platform; only in editions with IAM" },
      },
      headers: headerComponents,
      responses: usedIn(paths, responseComponents),
      schemas: schemaComponents(),
    },
  };
}

function pathsOf(routes: readonly RouteEntry[]): JsonObject {
  const paths: Record<string, Record<string, Json>> = {};
  for (const entry of routes) {
    const operations = (paths[documentPath(entry.path)] ??= {});
    operations[entry.method.toLowerCase()] = operationOf(entry);
  }
  return paths;
}

/** The entries of `components.responses` that `paths` refers to. */
function usedIn(paths: JsonObject, components: JsonObject): JsonObject {
  const text = JSON.stringify(paths);
  return Object.fromEntries(
    Object.entries(components).filter(([name]) => text.includes(`"#/components/responses/${name}"`)),
  );
}
