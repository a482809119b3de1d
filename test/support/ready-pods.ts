import type { ClusterPlatform } from "./cluster-platform.ts";

interface Pod {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly status: {
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** Addresses of the pods of a process of the platform that are ready; they are reached from this machine. */
export async function readyPods(
  { cluster, namespace }: ClusterPlatform,
  process: "gateway" | "queue-worker",
): Promise<readonly string[]> {
  const args = ["get", "pods", `--selector=app.kubernetes.io/name=${process}`, "--output=json"];
  const { items } = JSON.parse(await cluster.kubectl(args, { namespace })) as { readonly items: readonly Pod[] };
  return items.filter(isServing).map(({ status }) => status.podIP ?? "");
}

function isServing({ metadata, status: { podIP, conditions = [] } }: Pod): boolean {
  const isReady = conditions.some(({ type, status }) => type === "Ready" && status === "True");
  return metadata.deletionTimestamp === undefined && podIP !== undefined && isReady;
}
