import type { KubernetesObject } from "../../infra/manifests/kubernetes-object.ts";
import type { Platform } from "../../infra/manifests/platform.ts";
import { defaultNamespaceSettings } from "../../runtime/adapters/kubernetes/manifests/namespace-objects.ts";
import type { Node } from "./check-nodes.ts";
import { listAll, type Cluster } from "./cluster.ts";
import { note, ok, problem, type Finding } from "./finding.ts";
import { mayRun, nodeRooms, place, type NodeRoom, type RunningPod } from "./node-room.ts";
import { platformRequests, type PlannedPod } from "./platform-requests.ts";
import { roomOf, roomText, sum } from "./pod-requests.ts";

/** Whether the nodes have room for the platform's pods, for an additional one during an update, and for a function. */
export async function checkCapacity(
  cluster: Cluster,
  nodes: readonly Node[],
  platform: Platform,
  objects: readonly KubernetesObject[],
): Promise<Finding[]> {
  const { pods, surging } = platformRequests(objects);
  const others = (await runningPods(cluster)).filter((pod) => !isOurs(pod, platform));
  const usable = nodes.filter((node) => pods.some(({ spec }) => mayRun(spec, node)));
  const rooms = nodeRooms(usable, others);
  const asked = `the platform asks for ${roomText(sum(pods.map(({ requests }) => requests)))} in ${pods.length} pods`;
  const free = `${usable.length} ${usable.length === 1 ? "node has" : "nodes have"} ${leftText(rooms)} left`;
  const grows = await nodesOnDemand(cluster);
  const missing = (says: string, todo: string): Finding[] =>
    grows === undefined ? [problem(says, todo)] : [note(says, `${grows} has to add nodes`)];

  const { homeless, left } = place(pods, rooms);
  if (homeless.length > 0)
    return missing(
      `${asked}, ${free}: no room for ${homeless.length} of them, ${listOf(homeless)}`,
      "add nodes, or ask for less with weir:cpu and weir:memory",
    );
  const fits = ok(`${asked}, ${free}`);
  const updates = surging.filter((pod) => place([pod], left).homeless.length > 0);
  const stalling =
    updates.length === 0
      ? []
      : [
          note(
            `no room for a second ${listOf(updates)}`,
            "an update starts a new pod before it ends the old one, and would wait for room: add nodes before the first one",
          ),
        ];
  const replica = functionPod(platform);
  const amounts = roomText(replica.requests);
  if (place([replica], left).homeless.length > 0)
    return [
      fits,
      ...missing(
        `no room for a function of ${amounts} beside it: ${leftText(left)} are left`,
        "add nodes, or ask for less with weir:cpu and weir:memory",
      ),
      ...stalling,
    ];
  return [fits, ok(`room for functions: ${leftText(left)}; one that names nothing asks for ${amounts}`), ...stalling];
}

/** Pods that occupy room; ended ones do not. */
function runningPods(cluster: Cluster): Promise<readonly RunningPod[]> {
  const ended = encodeURIComponent("status.phase!=Succeeded,status.phase!=Failed");
  return listAll<RunningPod>(cluster, `/api/v1/pods?fieldSelector=${ended}`);
}

/** Pods of this platform: the planned ones replace them. */
function isOurs({ metadata }: RunningPod, { platformNamespace }: Platform): boolean {
  return metadata.namespace === platformNamespace && metadata.labels?.["app.kubernetes.io/part-of"] === "weir";
}

/** A replica of a function that sets no resources. */
function functionPod({ platformNamespace }: Platform): PlannedPod {
  const { requests } = defaultNamespaceSettings(platformNamespace);
  return { name: "function", spec: {}, requests: roomOf(requests) };
}

/** What adds nodes to this cluster when pods cannot be placed, if anything does. */
async function nodesOnDemand(cluster: Cluster): Promise<string | undefined> {
  if ((await cluster.get("/apis/karpenter.sh/v1")) !== undefined) return "Karpenter";
  const status = "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-status";
  const found = await cluster.get(status).catch(() => undefined);
  return found === undefined ? undefined : "the cluster autoscaler";
}

function leftText(rooms: readonly NodeRoom[]): string {
  return roomText(sum(rooms));
}

/** Each pod once, with its requests. */
function listOf(pods: readonly PlannedPod[]): string {
  const counts = new Map<PlannedPod, number>();
  for (const pod of pods) counts.set(pod, (counts.get(pod) ?? 0) + 1);
  return [...counts]
    .map(([pod, count]) => `${count > 1 ? `${count} × ` : ""}${pod.name} (${roomText(pod.requests)})`)
    .join(", ");
}
