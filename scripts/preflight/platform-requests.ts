import type { KubernetesObject } from "../../infra/manifests/kubernetes-object.ts";
import { podRequests, roomOf, type PodSpec, type Room } from "./pod-requests.ts";

/** One pod that is to be placed. */
export interface PlannedPod {
  /** Name for people, e.g. `gateway`. */
  readonly name: string;
  readonly spec: PodSpec;
  readonly requests: Room;
}

/** What a set of objects requests from a cluster. */
export interface PlatformRequests {
  readonly pods: readonly PlannedPod[];
  /** Bytes of each disk. */
  readonly disks: readonly number[];
  /** For each Deployment, the pod that an update starts before it ends an old one. */
  readonly surging: readonly PlannedPod[];
}

interface Workload {
  readonly replicas?: number;
  readonly template?: { readonly spec?: PodSpec };
  readonly volumeClaimTemplates?: readonly {
    readonly spec: { readonly resources: { readonly requests: Readonly<Record<string, string>> } };
  }[];
}

/** What the Deployments and StatefulSets among these objects request. */
export function platformRequests(objects: readonly KubernetesObject[]): PlatformRequests {
  const workloads = objects
    .filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet")
    .map(({ kind, metadata, spec }) => {
      const { replicas = 1, template, volumeClaimTemplates = [] } = spec as Workload;
      const podSpec = template?.spec ?? {};
      const pod = { name: metadata.name, spec: podSpec, requests: podRequests(podSpec) };
      return { kind, pod, replicas, claims: volumeClaimTemplates };
    });
  return {
    pods: workloads.flatMap(({ pod, replicas }) => Array<PlannedPod>(replicas).fill(pod)),
    disks: workloads.flatMap(({ claims, replicas }) =>
      Array<number[]>(replicas)
        .fill(claims.map(({ spec }) => roomOf({ memory: spec.resources.requests["storage"] ?? "0" }).memory))
        .flat(),
    ),
    surging: workloads.filter(({ kind }) => kind === "Deployment").map(({ pod }) => pod),
  };
}
