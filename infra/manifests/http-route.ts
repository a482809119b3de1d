import { gatewayPort } from "./processes/gateway.ts";
import { given, type KubernetesObject } from "./kubernetes-object.ts";
import { labelsOf } from "./names.ts";
import type { Platform } from "./platform.ts";

/** The entry point from outside by the Gateway API (gateway.networking.k8s.io, v1), if a host is set. */
export function httpRouteManifests({ httpRoute, platformNamespace: namespace }: Platform): KubernetesObject[] {
  const { host, gateway, gatewayNamespace, sectionName } = httpRoute;
  if (host === undefined || gateway === undefined) return [];
  const parent = { name: gateway, ...given("namespace", gatewayNamespace), ...given("sectionName", sectionName) };
  return [
    {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "HTTPRoute",
      metadata: { name: "gateway", namespace, labels: labelsOf("gateway") },
      spec: {
        parentRefs: [parent],
        hostnames: [host],
        rules: [
          {
            matches: [{ path: { type: "PathPrefix", value: "/" } }],
            backendRefs: [{ name: "gateway", port: gatewayPort }],
          },
        ],
      },
    },
  ];
}
