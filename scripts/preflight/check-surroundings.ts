import { apiServerObject } from "../../infra/manifests/api-server.ts";
import type { KubernetesObject } from "../../infra/manifests/kubernetes-object.ts";
import type { Platform } from "../../infra/manifests/platform.ts";
import { objectLabel } from "../../runtime/api/names.ts";
import type { Cluster } from "./cluster.ts";
import { note, ok, problem, type Finding } from "./finding.ts";

interface Metadata {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

const enforced = "pod-security.kubernetes.io/enforce";

/** Required namespaces, existing definitions, the metrics API, and network facts. */
export async function checkSurroundings(
  cluster: Cluster,
  platform: Platform,
  definitions: readonly KubernetesObject[],
): Promise<Finding[]> {
  return [
    ...(await checkNamespaces(cluster, platform)),
    ...(await checkOtherNamespaces(cluster, platform)),
    ...(await checkDefinitions(cluster, definitions)),
    (await cluster.get("/apis/metrics.k8s.io/v1beta1")) === undefined
      ? note("there is no metrics API", "install metrics-server for usage figures and for scale.type cpu")
      : ok("metrics API"),
    ...(await checkApiServer(cluster, platform)),
    note(
      "whether the network enforces network policies cannot be told from here",
      "docs/reference/kubernetes.md says what they are for",
    ),
  ];
}

/** Network policies open the ports on which the API server reports to listen. */
async function checkApiServer(cluster: Cluster, { apiServer }: Platform): Promise<Finding[]> {
  if (apiServer.ports.length > 0) return [];
  const { namespace, name } = apiServerObject;
  const slice = await cluster.get<{ readonly ports?: readonly { readonly port?: number }[] }>(
    `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices/${name}`,
  );
  return slice === undefined
    ? [
        problem(
          `there is no EndpointSlice "${name}" in namespace "${namespace}", which says where the API server listens`,
          "set weir:apiServer.ports",
        ),
      ]
    : [ok(`the API server listens on port ${(slice.ports ?? []).map(({ port }) => port).join(", ")}`)];
}

async function checkNamespaces(cluster: Cluster, platform: Platform): Promise<Finding[]> {
  const { platformNamespace, functionNamespace, createNamespaces } = platform;
  const look = async (name: string): Promise<Finding[]> => {
    const found = await cluster.get<Metadata>(`/api/v1/namespaces/${name}`);
    if (createNamespaces) {
      if (found === undefined) return [];
      return [
        note(
          `namespace ${name} is there already`,
          "fine if this stack made it; else set weir:createNamespaces to false, or another name",
        ),
      ];
    }
    if (found === undefined)
      return [
        problem(
          `there is no namespace "${name}"`,
          `kubectl create namespace ${name}, or set weir:createNamespaces to true`,
        ),
      ];
    const level = found.metadata.labels?.[enforced];
    return level === undefined || level === "restricted"
      ? [ok(`namespace ${name}`)]
      : [
          note(
            `namespace ${name} enforces pod security "${level}"`,
            `all pods keep to "restricted": label it ${enforced}=restricted`,
          ),
        ];
  };
  return [...(await look(platformNamespace)), ...(await look(functionNamespace))];
}

/** Namespaces of functions that an edition with several of them left behind. */
async function checkOtherNamespaces(cluster: Cluster, platform: Platform): Promise<Finding[]> {
  const { manyNamespaces, platformNamespace, functionNamespace, edition } = platform;
  if (manyNamespaces) return [];
  const selector = encodeURIComponent(`${objectLabel.platform}=${platformNamespace}`);
  const { items = [] } =
    (await cluster.get<{ readonly items?: readonly Metadata[] }>(`/api/v1/namespaces?labelSelector=${selector}`)) ?? {};
  const others = items.map(({ metadata }) => metadata.name).filter((name) => name !== functionNamespace);
  if (others.length === 0) return [];
  const todo = `edition ${edition} serves ${functionNamespace} alone: their functions get no calls any more`;
  return [note(`namespaces of functions that an edition with several has made: ${others.join(", ")}`, todo)];
}

async function checkDefinitions(cluster: Cluster, definitions: readonly KubernetesObject[]): Promise<Finding[]> {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const found = await Promise.all(definitions.map(({ metadata }) => cluster.get<Metadata>(`${path}/${metadata.name}`)));
  const there = found.flatMap((each) => (each === undefined ? [] : [each.metadata.name]));
  if (there.length === 0) return [ok("no definition of ours is there yet")];
  return [
    note(
      `definitions are there already: ${there.join(", ")}`,
      "they are brought up to date; if another platform in this cluster looks after them set weir:installCrds to false",
    ),
  ];
}
