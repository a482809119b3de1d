import Type from "typebox";

import { editions, type Edition } from "../../api/editions.ts";
import { grammarRule, isNamespaceName } from "../../api/grammar.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { manyNamespaces, resolveNamespace } from "../../core/namespace-rules.ts";
import { quote } from "../../core/quote.ts";
import type { RoutePlugin } from "../route-plugin.ts";

const FunctionNamespace = Type.Object({
  name: Type.String(),
  labels: Type.Record(Type.String(), Type.String()),
  annotations: Type.Record(Type.String(), Type.String()),
});
const NamespacePath = Type.Object({ name: Type.String() });
/** Marks a namespace of functions. */
const marker = { "com.service.namespace": "1" };

/** Namespaces (contract §3.3): the default one is shown; others come with the editions that have several. */
export const namespaceRoutes: RoutePlugin = async (app, { namespaces, edition }) => {
  const { defaultNamespace } = namespaces;

  for (const end of ["", "/"]) {
    app.get(`/system/namespaces${end}`, { schema: { response: { 200: Type.Array(Type.String()) } } }, async () => [
      defaultNamespace,
    ]);
    app.get(`/system/namespace${end}`, async () => {
      throw new PlatformError("validation_failed", "Cannot show a namespace: its name is missing from the path");
    });

    for (const base of ["/system/namespace", "/system/namespaces"]) {
      app.get(
        `${base}/:name${end}`,
        { schema: { params: NamespacePath, response: { 200: FunctionNamespace } } },
        async ({ params }) => ({
          name: resolveNamespace(params.name, namespaces, "namespace_not_found"),
          labels: marker,
          annotations: {},
        }),
      );
      for (const path of [`${base}${end}`, `${base}/:name${end}`]) {
        for (const method of ["POST", "PUT", "DELETE"] as const) {
          app.route({
            method,
            url: path,
            handler: async ({ body, params }) => {
              const name = namedIn(body, textMember(params, "name"), method);
              throw refusal(name, edition, defaultNamespace, method);
            },
          });
        }
      }
    }
  }
};

/** The name in path and body, which must agree; a body is optional for DELETE with the name in the path. */
function namedIn(body: unknown, inPath: string | undefined, method: string): string {
  const isObject = typeof body === "object" && body !== null && !Array.isArray(body);
  if (!isObject && !(body === undefined && method === "DELETE" && inPath !== undefined)) {
    throw new PlatformError("validation_failed", "Cannot read the body: expected an object with the field name");
  }
  const inBody = textMember(body, "name");
  if (isObject && inBody === undefined)
    throw new PlatformError("validation_failed", 'Cannot read field "name": it is required');
  const name = inBody ?? inPath ?? "";
  if (!isNamespaceName(name)) {
    throw new PlatformError("validation_failed", `Cannot read namespace name ${quote(name)}: ${grammarRule.namespace}`);
  }
  if (inPath !== undefined && inPath !== name) {
    throw new PlatformError(
      "validation_failed",
      `Cannot change namespace ${quote(inPath)}: the body names ${quote(name)}`,
    );
  }
  return name;
}

function refusal(name: string, edition: Edition, defaultNamespace: string, method: string): PlatformError {
  if (editions[edition].namespaces === "one") {
    const limit = `edition "${edition}" has only "${defaultNamespace}", more need edition "${manyNamespaces}"`;
    return new PlatformError("edition_limit", `Cannot change namespace "${name}": ${limit}`);
  }
  if (method === "DELETE" && name === defaultNamespace) {
    return new PlatformError("forbidden", `Cannot delete namespace "${name}": it is the default one`);
  }
  return new PlatformError("not_built", `Cannot change namespace "${name}": several namespaces are not built yet`);
}

function textMember(value: unknown, key: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const member: unknown = Reflect.get(value, key);
  return typeof member === "string" ? member : undefined;
}
