import Type from "typebox";

import { FunctionNamespaceBody } from "../../../api/schemas/function-namespace.ts";
import { namespaceName } from "../../../api/schemas/name-schemas.ts";
import { grammarRule, isNamespaceName } from "../../../api/grammar.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import {
  createNamespace,
  deleteNamespace,
  namespaceNames,
  replaceNamespace,
  showNamespace,
} from "../../../core/namespaces/namespace-changes.ts";
import { permitted } from "../../../core/access/principal.ts";
import type { NamespaceRules } from "../../../core/namespaces/namespace-rules.ts";
import { quote } from "../../../core/quote.ts";
import { requireAccess } from "../../access/access-denied.ts";
import { namespaceResource } from "../named-resource.ts";
import { route, type RouteEntry, type RouteFacts, type RouteParts } from "../route.ts";

const NamespacePath = Type.Object({ namespace: namespaceName("Name of the namespace", "dev") });

/** Singular and plural paths are equivalent, with or without a final slash, except for GET without a name. */
const plural = { path: "/system/namespaces", also: ["/system/namespaces/"] };
const unnamed = { path: plural.path, also: [...plural.also, "/system/namespace", "/system/namespace/"] };
const named = {
  path: "/system/namespace/:namespace",
  also: ["/system/namespace/:namespace/", "/system/namespaces/:namespace", "/system/namespaces/:namespace/"],
};

const listNamespacesAction = "Namespace:List";

const listNamespaces = route(
  {
    id: "listNamespaces",
    group: "namespaces",
    method: "GET",
    ...plural,
    needs: listNamespacesAction,
    filters: true,
    about: "Lists the namespaces of functions that the sender may list by name.",
    responses: [{ status: 200, about: "The names, sorted", schema: Type.Array(namespaceName("Name of a namespace")) }],
    trial: { commands: "curl -u admin:$P $G/system/namespaces", shows: '["functions"]' },
  },
  (parts) =>
    async ({ principal }) => {
      const names = namespaceNames(parts).filter(
        (name) => permitted(principal, { action: listNamespacesAction, resource: `${name}:*` }).allowed,
      );
      if (names.length === 0) requireAccess(principal, { action: listNamespacesAction, resource: "*" });
      return names;
    },
);

const getNoNamespace = route(
  {
    id: "getNoNamespace",
    group: "namespaces",
    method: "GET",
    path: "/system/namespace",
    also: ["/system/namespace/"],
    needs: "Namespace:Get",
    about: "Refused, as a name is missing.",
    responses: [{ status: 200, about: "Never" }],
    documented: false,
  },
  () => async () => {
    throw new PlatformError("validation_failed", "Cannot show a namespace: its name is missing from the path");
  },
);

const getNamespace = route(
  {
    id: "getNamespace",
    group: "namespaces",
    method: "GET",
    ...named,
    needs: "Namespace:Get",
    resource: ({ params }, names) => namespaceResource(params.namespace, names),
    about: "Shows a namespace with its labels and annotations, under its real name.",
    params: NamespacePath,
    responses: [{ status: 200, about: "The namespace", schema: FunctionNamespaceBody }],
    errors: ["namespace_not_found", "namespace_reserved", "edition_limit"],
    trial: {
      commands: "curl -u admin:$P $G/system/namespace/functions",
      shows: '{"name":"functions","labels":{"com.service.namespace":"1"},"annotations":{}}',
    },
  },
  (parts) =>
    async ({ params }) =>
      showNamespace(params.namespace, parts),
);

const createRoutes = change(
  {
    id: "createNamespace",
    group: "namespaces",
    method: "POST",
    needs: "Namespace:Create",
    about: "Creates a namespace.",
    responses: [{ status: 201, about: "The namespace is created" }],
    errors: ["namespace_reserved", "edition_limit", "namespace_exists"],
  },
  createNamespace,
);

const replaceRoutes = change(
  {
    id: "replaceNamespace",
    group: "namespaces",
    method: "PUT",
    needs: "Namespace:Update",
    about: "Replaces labels and annotations of a namespace.",
    responses: [{ status: 202, about: "They are stored" }],
    errors: ["namespace_not_found", "namespace_reserved", "edition_limit"],
  },
  replaceNamespace,
);

const deleteRoutes = change(
  {
    id: "deleteNamespace",
    group: "namespaces",
    method: "DELETE",
    needs: "Namespace:Delete",
    about: "Deletes a namespace and everything in it; its queued calls fail.",
    responses: [{ status: 202, about: "The namespace is unknown from now on" }],
    errors: ["forbidden", "namespace_not_found", "namespace_reserved", "edition_limit"],
  },
  ({ name }, parts) => deleteNamespace(name, parts),
);

/** Namespaces: list, show, create, replace, delete (contract §3.3). */
export const namespaceRoutes: readonly RouteEntry[] = [
  listNamespaces,
  getNoNamespace,
  getNamespace,
  ...createRoutes,
  ...replaceRoutes,
  ...deleteRoutes,
];

type ChangeFacts = Omit<
  RouteFacts<typeof NamespacePath, never, typeof FunctionNamespaceBody, never>,
  "path" | "also" | "trial" | "resource"
>;

/** The two routes of a change: one without a name in its path, the namespace being named by the body, and one with. */
function change(
  facts: ChangeFacts,
  act: (wanted: FunctionNamespaceBody, parts: RouteParts) => Promise<void>,
): RouteEntry[] {
  const trial = (path: string, name: string) => ({
    commands: `curl -i -u admin:$P -X ${facts.method} $G${path} -d '{"name":"${name}"}'`,
    shows: facts.method === "POST" ? "HTTP/1.1 201 Created\n…" : "HTTP/1.1 202 Accepted\n…",
  });
  return [
    route(
      {
        ...facts,
        ...unnamed,
        resource: ({ body }, names) => changedResource(body.name, facts.method, names),
        body: FunctionNamespaceBody,
        trial: trial("/system/namespaces", "dev"),
      },
      (parts) =>
        ({ body }) =>
          act(agreeing(body, undefined), parts),
    ),
    route(
      {
        ...facts,
        ...named,
        id: `${facts.id}ByName`,
        params: NamespacePath,
        resource: ({ params }, names) => changedResource(params.namespace, facts.method, names),
        body: FunctionNamespaceBody,
        bodyOptional: facts.method === "DELETE",
        trial: trial("/system/namespace/team", "team"),
      },
      (parts) =>
        ({ body, params }) =>
          act(agreeing(body ?? { name: params.namespace }, params.namespace), parts),
    ),
  ];
}

/** A namespace is created under the very name that is sent, though it may be an alias until then. */
function changedResource(name: string, method: ChangeFacts["method"], names: NamespaceRules): string {
  return method === "POST" ? `${name}:*` : namespaceResource(name, names);
}

/** The body, whose namespace must be that of the path if the path names one. */
function agreeing(body: FunctionNamespaceBody, inPath: string | undefined): FunctionNamespaceBody {
  if (!isNamespaceName(body.name)) {
    const name = quote(body.name);
    throw new PlatformError("validation_failed", `Cannot read namespace name ${name}: ${grammarRule.namespace}`);
  }
  if (inPath === undefined || inPath === body.name) return body;
  throw new PlatformError(
    "validation_failed",
    `Cannot change namespace ${quote(inPath)}: the body names ${quote(body.name)}`,
  );
}
