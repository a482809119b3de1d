import Type from "typebox";

import { parseBoolean } from "../../api/boolean.ts";
import { DeleteFunctionRequest, FunctionDeployment } from "../../api/function-deployment.ts";
import { FunctionStatus } from "../../api/function-status.ts";
import { deployFunction } from "../../core/deploy-function.ts";
import { resolveNamespace } from "../../core/namespace-rules.ts";
import { functionNotFound } from "../../core/scale-function.ts";
import { statusNow } from "../app-parts.ts";
import { namedNamespace, NamespaceQuery, type RoutePlugin } from "../route-plugin.ts";

const FunctionPath = Type.Object({ name: FunctionDeployment.properties.service });
const FunctionQuery = Type.Object({
  ...NamespaceQuery.properties,
  usage: Type.Optional(Type.String({ description: "1 = with usage, if known" })),
});

/** Functions: list, create, replace, remove, look at one (contract §3.1). */
export const functionRoutes: RoutePlugin = async (app, parts) => {
  const { functions, namespaces } = parts;

  app.get(
    "/system/functions",
    { schema: { querystring: NamespaceQuery, response: { 200: Type.Array(FunctionStatus) } } },
    async ({ query }) => {
      const namespace = resolveNamespace(namedNamespace(query), namespaces, "namespace_not_found");
      return (await functions.list(namespace)).map((wanted) => statusNow(wanted, parts));
    },
  );

  app.post("/system/functions", { schema: { body: FunctionDeployment } }, async ({ body }, reply) => {
    await deployFunction(body, "create", parts);
    return reply.code(202).send();
  });

  app.put("/system/functions", { schema: { body: FunctionDeployment } }, async ({ body }, reply) => {
    await deployFunction(body, "replace", parts);
    return reply.code(202).send();
  });

  app.delete(
    "/system/functions",
    { schema: { body: DeleteFunctionRequest, querystring: NamespaceQuery } },
    async ({ body, query }, reply) => {
      const namespace = resolveNamespace(namedNamespace(query, body), namespaces, "namespace_not_found");
      const ref = { namespace, name: body.functionName };
      if (!(await functions.remove(ref))) throw functionNotFound(ref);
      return reply.code(202).send();
    },
  );

  app.get(
    "/system/function/:name",
    { schema: { params: FunctionPath, querystring: FunctionQuery, response: { 200: FunctionStatus } } },
    async ({ params, query }) => {
      const namespace = resolveNamespace(namedNamespace(query), namespaces, "namespace_not_found");
      const ref = { namespace, name: params.name };
      const wanted = await functions.get(ref);
      if (wanted === undefined) throw functionNotFound(ref);
      const usage = parseBoolean(query.usage ?? "false") === true ? await parts.usage?.of(ref) : undefined;
      return { ...statusNow(wanted, parts), ...(usage === undefined ? {} : { usage }) };
    },
  );
};
