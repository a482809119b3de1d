import { customResources, type CustomResource } from "../../runtime/api/resources/custom-resources.ts";
import { definitionName } from "../../infra/manifests/definitions/custom-resource-definitions.ts";
import type { TestCluster } from "./test-cluster.ts";

/** Names of the six CustomResourceDefinitions. */
export const definitionNames: readonly string[] = Object.values<CustomResource>(customResources).map(definitionName);

/** Applies the six definitions of the repository and waits until the cluster serves them. */
export async function applyDefinitions({ kubectl }: TestCluster): Promise<void> {
  const folder = new URL("../../infra/crds", import.meta.url).pathname;
  const everywhere = { namespace: null };
  await kubectl(["apply", "--server-side", "--force-conflicts", "--filename", folder], everywhere);
  const definitions = definitionNames.map((name) => `crd/${name}`);
  await kubectl(["wait", "--for=condition=Established", "--timeout=30s", ...definitions], everywhere);
}
