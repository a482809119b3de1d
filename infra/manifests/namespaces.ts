import { namespaceMarker, objectLabel } from "../../runtime/api/names.ts";
import type { KubernetesObject } from "./kubernetes-object.ts";
import type { Platform } from "./platform.ts";

const levels = ["enforce", "audit", "warn"];

/** Labels that enforce the pod security level `restricted` in a namespace. */
export const restricted: Readonly<Record<string, string>> = Object.fromEntries(
  levels.flatMap((mode) => [
    [`pod-security.kubernetes.io/${mode}`, "restricted"],
    [`pod-security.kubernetes.io/${mode}-version`, "latest"],
  ]),
);

/** The namespaces of the platform and of functions, unless `createNamespaces` is false. */
export function namespaceManifests(platform: Platform): KubernetesObject[] {
  if (!platform.createNamespaces) return [];
  const namespace = (name: string, labels: Readonly<Record<string, string>>) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels: { "app.kubernetes.io/part-of": "weir", ...labels, ...restricted } },
  });
  return [
    // So that other platforms of the cluster know that its rules are read.
    namespace(platform.platformNamespace, { [objectLabel.platform]: platform.platformNamespace }),
    namespace(platform.functionNamespace, {
      [namespaceMarker.key]: namespaceMarker.value,
      [objectLabel.platform]: platform.platformNamespace,
    }),
  ];
}
