import type { DesiredFunction } from "../../../core/functions/desired-function.ts";
import { functionProtocol } from "../../../core/functions/function-limits.ts";
import { functionPort } from "../../../core/functions/function-port.ts";
import { functionLabels, functionSelector, objectName, ownerReference } from "./object-names.ts";
import type { ServiceObject } from "./object-types.ts";
import type { FunctionContext } from "./pods/pod-template.ts";

/**
 * The Service of a function; its labels are those of its EndpointSlices, by which gateways find ready replicas.
 * @throws PlatformError `validation_failed` for what `functionFault` finds
 */
export function functionService(wanted: DesiredFunction, { owner }: Pick<FunctionContext, "owner">): ServiceObject {
  const { name, namespace, deployment } = wanted;
  const appProtocol = functionProtocol(deployment.annotations) === "h2c" ? "kubernetes.io/h2c" : "http";
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: objectName(name),
      namespace,
      labels: functionLabels(name),
      ownerReferences: [ownerReference(owner)],
    },
    spec: {
      selector: functionSelector(name),
      ports: [{ name: "http", port: functionPort, targetPort: functionPort, protocol: "TCP", appProtocol }],
    },
  };
}
