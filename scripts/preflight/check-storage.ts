import type { Platform } from "../../infra/manifests/platform.ts";
import type { Cluster } from "./cluster.ts";
import { note, ok, problem, type Finding } from "./finding.ts";

const isDefault = "storageclass.kubernetes.io/is-default-class";

interface StorageClasses {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
    readonly allowVolumeExpansion?: boolean;
  }[];
}

/** Whether there is a class for the broker's disks. */
export async function checkStorage(cluster: Cluster, { nats }: Platform): Promise<Finding[]> {
  if (nats.url !== undefined) return [note(`the broker at ${nats.url} is not looked at`)];
  const { items } = (await cluster.get<StorageClasses>("/apis/storage.k8s.io/v1/storageclasses")) ?? { items: [] };
  const names = items.map(({ metadata }) => metadata.name);
  const wanted =
    nats.storageClass === undefined
      ? items.find(({ metadata }) => metadata.annotations?.[isDefault] === "true")
      : items.find(({ metadata }) => metadata.name === nats.storageClass);
  const there = names.length === 0 ? "there is none" : `there are ${names.join(", ")}`;
  if (wanted === undefined)
    return nats.storageClass === undefined
      ? [problem("no storage class is the default one", `set weir:nats.storageClass; ${there}`)]
      : [problem(`there is no storage class "${nats.storageClass}"`, `set weir:nats.storageClass; ${there}`)];
  const found = ok(`storage class ${wanted.metadata.name} for ${nats.replicas} × ${nats.storage}`);
  if (wanted.allowVolumeExpansion === true) return [found];
  return [found, note(`its volumes cannot grow`, "choose weir:nats.storage for what is to come")];
}
