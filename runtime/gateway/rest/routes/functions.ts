import type { FastifyInstance } from "fastify";
import Type, { type Static, type TObject } from "typebox";

import { parseBoolean } from "../../../api/boolean.ts";
import { keyPrefixes } from "../../../api/names.ts";
import { DeleteFunctionRequest, FunctionDeployment } from "../../../api/schemas/function-deployment.ts";
import { annotationRules, labelRules, type KeyRules } from "../../../api/schemas/key-rules.ts";
import { FunctionStatus, ignoredInDeployment } from "../../../api/schemas/function-status.ts";
import { functionName } from "../../../api/schemas/name-schemas.ts";
import { deployFunction } from "../../../core/functions/deploy-function.ts";
import { functionNotFound } from "../../../core/functions/function-not-found.ts";
import { permitted, permittedWithin } from "../../../core/access/principal.ts";
import { realNamespace, resolveNamespace, type NamespaceRules } from "../../../core/namespaces/namespace-rules.ts";
import type { FunctionStore } from "../../../core/ports/function-store.ts";
import { requireAccess } from "../../access/access-denied.ts";
import { listAction, resourceOf } from "../../access/function-callers.ts";
import { guardedFunctions } from "../../access/guarded-functions.ts";
import { statusNow } from "../app-parts.ts";
import { DeploymentWaits, parseWait } from "../deployment-waits.ts";
import { functionResource } from "../named-resource.ts";
import { namedNamespace, NamespaceQuery } from "../namespace-query.ts";
import { route, type RouteParts, type RouteRequest } from "../route.ts";
import { scaleRoute } from "./scale.ts";

const FunctionPath = Type.Object({ name: functionName("Name of the function") });
const FunctionQuery = Type.Object({
  ...NamespaceQuery.properties,
  usage: Type.Optional(Type.Boolean({ description: "Whether to include its use of CPU and memory, if known" })),
});

const WaitQuery = Type.Object({
  wait: Type.Optional(
    Type.String({
      pattern: "^(?:(?:[12]?[0-9]{1,2}|300)s?|[1-4]m(?:[1-5]?[0-9]s)?|5m|[0-9]{1,5}ms)$",
      description: "Longest to wait until the deployment is ready, e.g. 30s; at most 5m, not at all when absent",
      examples: ["30s"],
    }),
  ),
});

const waitDetails =
  "With `wait` the response is sent when all replicas of this deployment are ready; if they do not become ready, it is 409 `not_ready` with the reason and their last log lines. The deployment is stored in any case.";

const createAction = "Function:Create";
const updateAction = "Function:Update";

/** A handler that stores a deployment, and waits for it if requested. */
function deploying(mode: "create" | "replace") {
  return (parts: RouteParts, app: FastifyInstance) => {
    const waits = new DeploymentWaits(parts);
    app.addHook("preClose", async () => waits.close());
    return async (request: RouteRequest<TObject, typeof WaitQuery, typeof FunctionDeployment>) => {
      const { query, reply } = request;
      const body = withoutEmptyKeys(request.body);
      const wait = parseWait(query.wait);
      const functions = mode === "create" ? parts.functions : checkingWrites(request, parts);
      const written = await deployFunction(body, mode, { ...parts, functions });
      request.request.access.changed = true;
      if (wait > 0) await waits.ready(written, wait, reply.raw);
    };
  };
}

/** `deployment` without platform keys that are empty where they must not be: such a key is as good as absent. */
function withoutEmptyKeys(deployment: Static<typeof FunctionDeployment>): Static<typeof FunctionDeployment> {
  const { labels, annotations } = deployment;
  return {
    ...deployment,
    ...(labels === undefined ? {} : { labels: withoutEmpty(labels, labelRules) }),
    ...(annotations === undefined ? {} : { annotations: withoutEmpty(annotations, annotationRules) }),
  };
}

function withoutEmpty(texts: Readonly<Record<string, string>>, rules: KeyRules): Readonly<Record<string, string>> {
  const isAbsent = (key: string): boolean => {
    const prefix = keyPrefixes.find((each) => key.startsWith(each));
    const name = prefix === undefined ? "" : key.slice(prefix.length);
    return Object.hasOwn(rules, name) && rules[name]?.parse("") === undefined;
  };
  return Object.fromEntries(Object.entries(texts).filter(([key, value]) => value !== "" || !isAbsent(key)));
}

/** Whether a sender creates the function or updates it is known only as it is written. */
function checkingWrites(
  { body, principal, request }: RouteRequest<TObject, typeof WaitQuery, typeof FunctionDeployment>,
  { functions, namespaces }: RouteParts,
): FunctionStore {
  const resource = deployedResource({ body }, namespaces);
  return guardedFunctions(functions, (current) => {
    const action = current === undefined ? createAction : updateAction;
    request.access.action = action;
    request.access.by = requireAccess(principal, { action, resource });
  });
}

function deployedResource(
  { body }: { readonly body: Static<typeof FunctionDeployment> },
  names: NamespaceRules,
): string {
  return functionResource(body.namespace, body.service, names);
}

const listFunctions = route(
  {
    id: "listFunctions",
    group: "functions",
    method: "GET",
    path: "/system/functions",
    needs: listAction,
    filters: true,
    about: "Lists the functions of a namespace that the sender may list, sorted by name.",
    details:
      "On Kubernetes, while the API server is away or late, those that were known last: the header `Warning` says so, `Age` for how many seconds.",
    query: NamespaceQuery,
    responses: [{ status: 200, about: "The functions", schema: Type.Array(FunctionStatus) }],
    errors: ["namespace_not_found", "namespace_reserved", "edition_limit"],
    trial: { commands: "curl -u admin:$P $G/system/functions", shows: '[{"name":"echo",…},{"name":"hello",…}]' },
  },
  (parts) =>
    async ({ query, principal, reply }) => {
      const named = realNamespace(namedNamespace(query), parts.namespaces);
      if (!permittedWithin(principal, listAction, named)) {
        requireAccess(principal, { action: listAction, resource: `${named}:*` });
      }
      const namespace = resolveNamespace(namedNamespace(query), parts.namespaces, "namespace_not_found");
      const functions = await parts.functions.list(namespace);
      if (functions.staleFor !== undefined) {
        reply.headers({ age: Math.round(functions.staleFor / 1_000), warning: '110 - "Response is Stale"' });
      }
      return functions
        .filter((desired) => permitted(principal, { action: listAction, resource: resourceOf(desired) }).allowed)
        .map((desired) => statusNow(desired, parts));
    },
);

const createFunction = route(
  {
    id: "createFunction",
    group: "functions",
    method: "POST",
    path: "/system/functions",
    needs: createAction,
    resource: deployedResource,
    about: "Creates a function.",
    details: `A GET shows it from now on; its replicas start afterwards, and conditions say what prevents them. ${waitDetails}`,
    query: WaitQuery,
    body: FunctionDeployment,
    ignoredFields: ignoredInDeployment,
    // GET shows it as `name`, and what GET shows can be deployed again.
    fallbackFields: { service: "name" },
    responses: [{ status: 202, about: "The function is stored and will be reconciled" }],
    errors: ["namespace_reserved", "edition_limit", "function_exists", "not_ready", "not_built"],
    trial: {
      commands: `curl -i -u admin:$P $G/system/functions -d '{"service":"hello","image":"hello:1","envProcess":"cat"}'`,
      shows: "HTTP/1.1 202 Accepted\n…",
    },
  },
  deploying("create"),
);

const replaceFunction = route(
  {
    id: "replaceFunction",
    group: "functions",
    method: "PUT",
    path: "/system/functions",
    needs: updateAction,
    orNeeds: createAction,
    resource: deployedResource,
    about: "Creates a function, or replaces its whole description.",
    details: `Starts a rolling update without downtime, also if nothing changed, and keeps the number of replicas within its limits. ${waitDetails}`,
    query: WaitQuery,
    body: FunctionDeployment,
    ignoredFields: ignoredInDeployment,
    // GET shows it as `name`, and what GET shows can be deployed again.
    fallbackFields: { service: "name" },
    responses: [{ status: 202, about: "The function is stored and will be reconciled" }],
    errors: ["namespace_reserved", "edition_limit", "not_ready", "not_built"],
    trial: {
      commands: `curl -i -u admin:$P -X PUT $G/system/functions -d '{"service":"echo","image":"echo:1","envProcess":"cat"}'`,
      shows: "HTTP/1.1 202 Accepted\n…",
    },
  },
  deploying("replace"),
);

const deleteFunction = route(
  {
    id: "deleteFunction",
    group: "functions",
    method: "DELETE",
    path: "/system/functions",
    needs: "Function:Delete",
    resource: ({ body, query }, names) => functionResource(namedNamespace(query, body), body.functionName, names),
    about: "Removes a function and its replicas.",
    query: NamespaceQuery,
    body: DeleteFunctionRequest,
    responses: [{ status: 202, about: "The function is gone; its replicas end after their calls" }],
    errors: ["namespace_not_found", "function_not_found", "namespace_reserved", "edition_limit"],
    trial: {
      commands: `curl -i -u admin:$P -X DELETE $G/system/functions -d '{"functionName":"hello"}'`,
      shows: "HTTP/1.1 202 Accepted\n…",
    },
  },
  (parts) =>
    async ({ body, query }) => {
      const namespace = resolveNamespace(namedNamespace(query, body), parts.namespaces, "namespace_not_found");
      const ref = { namespace, name: body.functionName };
      if (!(await parts.functions.remove(ref))) throw functionNotFound(ref);
    },
);

const getFunction = route(
  {
    id: "getFunction",
    group: "functions",
    method: "GET",
    path: "/system/function/:name",
    needs: "Function:Get",
    resource: ({ params, query }, names) => functionResource(namedNamespace(query), params.name, names),
    about: "Shows a function: what was deployed, and its state.",
    params: FunctionPath,
    query: FunctionQuery,
    responses: [{ status: 200, about: "The function", schema: FunctionStatus }],
    errors: ["namespace_not_found", "function_not_found", "namespace_reserved", "edition_limit"],
    trial: {
      commands: 'curl -u admin:$P "$G/system/function/echo?usage=1"',
      shows: '{"name":"echo","namespace":"functions",…}',
    },
  },
  (parts) =>
    async ({ params, query }) => {
      const namespace = resolveNamespace(namedNamespace(query), parts.namespaces, "namespace_not_found");
      const ref = { namespace, name: params.name };
      const desired = await parts.functions.get(ref);
      if (desired === undefined) throw functionNotFound(ref);
      const usage = parseBoolean(query.usage ?? "false") === true ? await parts.usage?.of(ref) : undefined;
      return { ...statusNow(desired, parts), ...(usage === undefined ? {} : { usage }) };
    },
);

/** Functions: create, replace, list, show, scale, delete (contract §3.1). */
export const functionRoutes = [createFunction, replaceFunction, listFunctions, getFunction, scaleRoute, deleteFunction];
