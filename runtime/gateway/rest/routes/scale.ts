import Type from "typebox";

import { ScaleServiceRequest } from "../../../api/schemas/function-deployment.ts";
import { functionName } from "../../../api/schemas/name-schemas.ts";
import { resolveNamespace } from "../../../core/namespaces/namespace-rules.ts";
import { scaleFunction } from "../../../core/scaling/scale-function.ts";
import { functionResource } from "../named-resource.ts";
import { namedNamespace, NamespaceQuery } from "../namespace-query.ts";
import { route } from "../route.ts";

/** Sets the replicas of a function (contract §3.1). */
export const scaleRoute = route(
  {
    id: "scaleFunction",
    group: "functions",
    method: "POST",
    path: "/system/scale-function/:name",
    needs: "Function:Scale",
    resource: ({ params, query, body }, names) => functionResource(namedNamespace(query, body), params.name, names),
    about: "Sets the number of replicas of a function; 0 is allowed, and the next call wakes it.",
    details:
      "The autoscaler leaves the number alone for `scale_hold`, within `scale.min` and `scale.max`; a PUT of the function ends that. Fewer than `scale.min`, but not 0, become `scale.min`: the condition `Scaling` says what was requested.",
    params: Type.Object({ name: functionName("Name of the function") }),
    query: NamespaceQuery,
    body: ScaleServiceRequest,
    responses: [{ status: 202, about: "The number is stored and will be reconciled" }],
    errors: ["namespace_not_found", "function_not_found", "namespace_reserved", "edition_limit"],
    trial: {
      commands: `curl -i -u admin:$P $G/system/scale-function/echo -d '{"replicas":2}'`,
      shows: "HTTP/1.1 202 Accepted\n…",
    },
  },
  ({ functions, namespaces, scaleHold }) =>
    async ({ params, body, query }) => {
      const namespace = resolveNamespace(namedNamespace(query, body), namespaces, "namespace_not_found");
      await scaleFunction(functions, { namespace, name: params.name }, body.replicas, scaleHold);
    },
);
