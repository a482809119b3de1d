import { functionLabel } from "../../../../api/names.ts";
import type { FunctionDeployment } from "../../../../api/schemas/function-deployment.ts";
import type { FunctionStatus } from "../../../../api/schemas/function-status.ts";

/** What was deployed, as it would be sent again. */
export function deploymentOfStatus(status: FunctionStatus): FunctionDeployment {
  const { name, namespace, image, envProcess, envVars, labels, annotations, secrets, ...rest } = status;
  const { constraints, limits, requests, readOnlyRootFilesystem } = rest;
  const { [functionLabel]: _own, ...sentLabels } = labels ?? {};
  return {
    service: name,
    namespace,
    image,
    ...(envProcess === undefined ? {} : { envProcess }),
    ...someOf({ envVars, labels: sentLabels, annotations, limits, requests }),
    ...(secrets === undefined || secrets.length === 0 ? {} : { secrets }),
    ...(constraints === undefined || constraints.length === 0 ? {} : { constraints }),
    ...(readOnlyRootFilesystem === undefined ? {} : { readOnlyRootFilesystem }),
  };
}

type TextMaps = Pick<FunctionDeployment, "envVars" | "labels" | "annotations" | "limits" | "requests">;

/** Those that have a member. */
function someOf(maps: { readonly [Key in keyof TextMaps]: TextMaps[Key] | undefined }): TextMaps {
  return Object.fromEntries(Object.entries(maps).filter(([, map]) => map !== undefined && Object.keys(map).length > 0));
}
