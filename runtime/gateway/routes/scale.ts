import Type from "typebox";

import { FunctionDeployment, ScaleServiceRequest } from "../../api/function-deployment.ts";
import { resolveNamespace } from "../../core/namespace-rules.ts";
import { scaleFunction } from "../../core/scale-function.ts";
import { namedNamespace, NamespaceQuery, type RoutePlugin } from "../route-plugin.ts";

const FunctionPath = Type.Object({ name: FunctionDeployment.properties.service });

/** Sets the replicas of a function (contract §3.1). */
export const scaleRoutes: RoutePlugin = async (app, { functions, namespaces }) => {
  app.post(
    "/system/scale-function/:name",
    { schema: { params: FunctionPath, body: ScaleServiceRequest, querystring: NamespaceQuery } },
    async ({ params, body, query }, reply) => {
      const namespace = resolveNamespace(namedNamespace(query, body), namespaces, "namespace_not_found");
      await scaleFunction(functions, { namespace, name: params.name }, body.replicas);
      return reply.code(202).send();
    },
  );
};
