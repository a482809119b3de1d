import type { KubernetesObject } from "../../infra/manifests/kubernetes-object.ts";
import type { Platform } from "../../infra/manifests/platform.ts";
import { measuredQuantity } from "../../runtime/adapters/kubernetes/stores/measured-quantity.ts";
import { quantityScale } from "../../runtime/core/functions/quantity.ts";
import { listAll, type Cluster } from "./cluster.ts";
import { problem, type Finding } from "./finding.ts";
import { platformRequests } from "./platform-requests.ts";
import { sum } from "./pod-requests.ts";

type Amounts = Readonly<Record<string, string>>;

interface ResourceQuota {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly scopes?: readonly string[]; readonly scopeSelector?: object };
  readonly status?: { readonly hard?: Amounts; readonly used?: Amounts };
}

interface LimitRange {
  readonly spec?: { readonly limits?: readonly { readonly type: string; readonly default?: Amounts }[] };
}

/** Whether quotas of an existing namespace leave the platform what it requests; no findings without quotas. */
export async function checkQuota(
  cluster: Cluster,
  platform: Platform,
  objects: readonly KubernetesObject[],
): Promise<Finding[]> {
  const path = `/api/v1/namespaces/${platform.platformNamespace}`;
  const quotas = (await listAll<ResourceQuota>(cluster, `${path}/resourcequotas`)).filter(isForAllPods);
  if (quotas.length === 0) return [];
  const ranges = await listAll<LimitRange>(cluster, `${path}/limitranges`);
  const hasDefaultCpu = ranges.some(({ spec }) =>
    spec?.limits?.some((limit) => limit.type === "Container" && limit.default?.["cpu"] !== undefined),
  );
  const label = encodeURIComponent("app.kubernetes.io/part-of=weir");
  // Existing pods of the platform are part of the used amounts.
  const isThere = (await listAll(cluster, `${path}/pods?labelSelector=${label}`)).length > 0;
  const asked = isThere ? new Map<string, number>() : askedOf(objects);
  return quotas.flatMap(({ metadata, status: { hard = {}, used = {} } = {} }) => [
    ...(hard["limits.cpu"] === undefined || hasDefaultCpu
      ? []
      : [
          problem(
            `quota ${metadata.name} in namespace ${platform.platformNamespace} wants a CPU limit of each pod, and the platform's have none`,
            "take limits.cpu out of it, or add a LimitRange with a default",
          ),
        ]),
    ...Object.entries(hard).flatMap(([name, most]) => {
      const wanted = asked.get(name);
      const left = inUnits(most) - inUnits(used[name] ?? "0");
      if (wanted === undefined || wanted <= left) return [];
      return [
        problem(
          `quota ${metadata.name} in namespace ${platform.platformNamespace} leaves ${left} of ${name}, and the platform asks for ${wanted}`,
          "raise it, or ask for less",
        ),
      ];
    }),
  ]);
}

/** Requests in whole units of each resource; CPUs with fractions. */
function askedOf(objects: readonly KubernetesObject[]): ReadonlyMap<string, number> {
  const { pods, disks } = platformRequests(objects);
  const { cpu, memory } = sum(pods.map(({ requests }) => requests));
  return new Map([
    ["pods", pods.length],
    ["cpu", cpu / 1_000],
    ["requests.cpu", cpu / 1_000],
    ["memory", memory],
    ["requests.memory", memory],
    // The memory requests of the platform's pods equal their limits.
    ["limits.memory", memory],
    ["requests.storage", disks.reduce((all, size) => all + size, 0)],
    ["persistentvolumeclaims", disks.length],
  ]);
}

function isForAllPods({ spec }: ResourceQuota): boolean {
  return (spec?.scopes ?? []).length === 0 && spec?.scopeSelector === undefined;
}

function inUnits(quantity: string): number {
  return Number(measuredQuantity(quantity)) / Number(quantityScale);
}
