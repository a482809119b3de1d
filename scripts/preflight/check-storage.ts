import type { Platform } from "../../infra/manifests/platform.ts";
import { listAll, type Cluster } from "./cluster.ts";
import { note, ok, problem, type Finding } from "./finding.ts";
import { roomOf } from "./pod-requests.ts";

const isDefault = "storageclass.kubernetes.io/is-default-class";

interface StorageClass {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly provisioner?: string;
  readonly allowVolumeExpansion?: boolean;
}

interface Volume {
  readonly spec: {
    readonly storageClassName?: string;
    readonly accessModes?: readonly string[];
    readonly capacity?: { readonly storage?: string };
  };
  readonly status?: { readonly phase?: string };
}

interface Claim {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly resources?: { readonly requests?: { readonly storage?: string } } };
}

/** Provisioners that Kubernetes no longer includes, and the CSI driver that replaces each. */
const successors: ReadonlyMap<string, string> = new Map([
  ["kubernetes.io/aws-ebs", "ebs.csi.aws.com"],
  ["kubernetes.io/azure-disk", "disk.csi.azure.com"],
  ["kubernetes.io/azure-file", "file.csi.azure.com"],
  ["kubernetes.io/cinder", "cinder.csi.openstack.org"],
  ["kubernetes.io/gce-pd", "pd.csi.storage.gke.io"],
  ["kubernetes.io/portworx-volume", "pxd.portworx.com"],
  ["kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"],
]);

/** File shares, which the authors of NATS do not support below JetStream: its behaviour there is undefined. */
const share = /^(?:efs\.csi\.|file\.csi\.azure|filestore\.csi\.|kubernetes\.io\/azure-file|.*\b(?:nfs|smb)\b)/;

/** Whether there is a class for the broker's disks that can provision them. */
export async function checkStorage(cluster: Cluster, platform: Platform): Promise<Finding[]> {
  const { nats } = platform;
  if (nats.url !== undefined) return [note(`the broker at ${nats.url} is not looked at`)];
  const items = await listAll<StorageClass>(cluster, "/apis/storage.k8s.io/v1/storageclasses");
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
  const claims = await claimsOf(cluster, platform);
  const missing = Number(nats.replicas) - claims.length;
  return [
    ...(await servingOf(cluster, wanted, missing, nats)),
    ...(wanted.allowVolumeExpansion === true
      ? []
      : [note(`its volumes cannot grow`, "choose weir:nats.storage for what is to come")]),
    ...sizesOf(claims, nats.storage),
  ];
}

/** Existing claims of the broker's servers, of an earlier platform or of this one. */
async function claimsOf(cluster: Cluster, { nats, platformNamespace }: Platform): Promise<readonly Claim[]> {
  const path = `/api/v1/namespaces/${platformNamespace}/persistentvolumeclaims`;
  const names = Array.from({ length: Number(nats.replicas) }, (_, index) => `data-nats-${index}`);
  return (await listAll<Claim>(cluster, path)).filter(({ metadata }) => names.includes(metadata.name));
}

/** Whether the class can provision the missing disks. */
async function servingOf(
  cluster: Cluster,
  { metadata, provisioner = "" }: StorageClass,
  missing: number,
  { replicas, storage }: Platform["nats"],
): Promise<Finding[]> {
  const found = ok(`storage class ${metadata.name} for ${replicas} × ${storage}`);
  if (missing === 0) return [found];
  if (provisioner === "kubernetes.io/no-provisioner") {
    const free = (await listAll<Volume>(cluster, "/api/v1/persistentvolumes")).filter((volume) =>
      serves(volume, metadata.name, storage),
    ).length;
    return free >= missing
      ? [found]
      : [
          problem(
            `storage class ${metadata.name} makes no volumes, and of ${missing} × ${storage} has ${free}`,
            "add volumes, set weir:nats.storage to what they have, or choose another weir:nats.storageClass",
          ),
        ];
  }
  const successor = successors.get(provisioner);
  const driver = successor ?? (/\bcsi\b/.test(provisioner) ? provisioner : undefined);
  if (driver !== undefined && (await cluster.get(`/apis/storage.k8s.io/v1/csidrivers/${driver}`)) === undefined) {
    const says = `storage class ${metadata.name} is of CSI driver ${driver}, which is not registered in the cluster`;
    const todo = "install it, or choose another weir:nats.storageClass";
    // A driver need not be registered, except for the successors of Kubernetes's old provisioners.
    return [successor === undefined ? note(says, `${todo}, unless it does without`) : problem(says, todo)];
  }
  if (!share.test(provisioner)) return [found];
  return [
    problem(
      `storage class ${metadata.name} makes file shares (${provisioner}), on which NATS does not support JetStream`,
      "choose a class of disks with weir:nats.storageClass",
    ),
  ];
}

function serves({ spec, status }: Volume, className: string, storage: string): boolean {
  return (
    status?.phase === "Available" &&
    spec.storageClassName === className &&
    spec.accessModes?.includes("ReadWriteOnce") === true &&
    bytes(spec.capacity?.storage) >= bytes(storage)
  );
}

/** Existing claims keep their size. */
function sizesOf(claims: readonly Claim[], storage: string): Finding[] {
  const others = claims.flatMap(({ metadata, spec }) => {
    const size = spec.resources?.requests?.storage;
    return bytes(size) === bytes(storage) ? [] : [`${metadata.name} (${size ?? "unknown"})`];
  });
  if (others.length === 0) return [];
  return [
    note(
      `claims of another size are there and keep it: ${others.join(", ")}`,
      `weir:nats.storage is ${storage}; docs/install.md says how they grow`,
    ),
  ];
}

function bytes(size = "0"): number {
  return roomOf({ memory: size }).memory;
}
