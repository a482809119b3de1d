import { apiVersion } from "../../api/version.ts";
import type { RouteEntry, RouteGroup } from "../rest/route.ts";
import { type Json, type JsonObject } from "./json.ts";
import { documentPath, operationOf } from "./operation.ts";
import { headerComponents, responseComponents } from "./responses.ts";
import { schemaComponents } from "./schemas.ts";

/** The groups of routes in the order of the documents, each with a sentence. */
export const routeGroups: Readonly<Record<RouteGroup, string>> = {
  functions: "Deploy functions, look at them, scale and remove them",
  calls: "Call a function and wait for its answer",
  "asynchronous calls": "Queue a call, look at it, get its result, cancel it",
  logs: "Read what functions wrote",
  secrets: "Keep what functions read as files",
  namespaces: "Keep functions apart",
  queues: "Look at queues and at the calls that were given up",
  platform: "The platform itself",
  identity: "Tokens for who is no administrator; only in editions with IAM",
};

const description = `Deploy functions, call them, queue calls, keep secrets and namespaces, read logs.

HEAD works where GET does, except for logs. Names are refused, never repaired. Fields that are not known are ignored, but for those of
a FunctionDeployment, which are refused; \`null\` means absent. Errors are one line of text, or \`application/problem+json\` for clients that
list \`application/json\` or \`application/problem+json\` in \`Accept\`. Clients ignore fields, headers, codes and values that they do not know.`;

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

/** Those of `components.responses` that `paths` refers to. */
function usedIn(paths: JsonObject, components: JsonObject): JsonObject {
  const text = JSON.stringify(paths);
  return Object.fromEntries(
    Object.entries(components).filter(([name]) => text.includes(`"#/components/responses/${name}"`)),
  );
}
