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
  /** For each Deployment that rolls, the pod that an update starts before it ends an old one. */
  readonly surging: readonly PlannedPod[];
}

interface Workload {
  readonly replicas?: number;
  readonly strategy?: { readonly type?: string };
  readonly template?: { readonly spec?: PodSpec };
  readonly volumeClaimTemplates?: readonly ClaimOfDisk[];
}

interface ClaimOfDisk {
  readonly spec: { readonly resources: { readonly requests: Readonly<Record<string, string>> } };
}

/** What the Deployments, StatefulSets and claims of disks among these objects request. */
export function platformRequests(objects: readonly KubernetesObject[]): PlatformRequests {
  const least = new Map(
    objects
      .filter(({ kind }) => kind === "HorizontalPodAutoscaler")
      .map(({ metadata, spec }) => [metadata.name, (spec as { readonly minReplicas: number }).minReplicas]),
  );
  const workloads = objects
    .filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet")
    .map(({ kind, metadata, spec }) => {
      const {
        replicas = least.get(metadata.name) ?? 1,
        strategy,
        template,
        volumeClaimTemplates = [],
      } = spec as Workload;
      const podSpec = template?.spec ?? {};
      const pod = { name: metadata.name, spec: podSpec, requests: podRequests(podSpec) };
      const surges = kind === "Deployment" && strategy?.type !== "Recreate";
      return { surges, pod, replicas, claims: volumeClaimTemplates };
    });
  const claims = objects
    .filter(({ kind }) => kind === "PersistentVolumeClaim")
    .map((claim) => storageOf(claim as unknown as ClaimOfDisk));
  return {
    pods: workloads.flatMap(({ pod, replicas }) => Array<PlannedPod>(replicas).fill(pod)),
    disks: [
      ...workloads.flatMap((each) => Array<number[]>(each.replicas).fill(each.claims.map(storageOf)).flat()),
      ...claims,
    ],
    surging: workloads.filter(({ surges }) => surges).map(({ pod }) => pod),
  };
}

function storageOf({ spec }: ClaimOfDisk): number {
  return roomOf({ memory: spec.resources.requests["storage"] ?? "0" }).memory;
}
