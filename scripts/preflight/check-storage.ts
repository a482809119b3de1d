import type { Platform } from "../../infra/manifests/platform.ts";
import { listAll, type Cluster } from "./cluster.ts";
import { note, ok, problem, type Finding } from "./finding.ts";
import { storageBytes, volumeProblems, type ClaimedDisk, type ListedVolume } from "./free-volumes.ts";

const isDefault = "storageclass.kubernetes.io/is-default-class";

interface StorageClass {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly provisioner?: string;
  readonly allowVolumeExpansion?: boolean;
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

/** File shares: NATS does not support JetStream on them, and SQLite cannot share memory there. */
const share = /^(?:efs\.csi\.|file\.csi\.azure|filestore\.csi\.|kubernetes\.io\/azure-file|.*\b(?:nfs|smb)\b)/;

/** Whether there is a class for the disks of the broker and the history that can provision them. */
export async function checkStorage(cluster: Cluster, platform: Platform): Promise<Finding[]> {
  const { url, storageClass } = platform.nats;
  const elsewhere = [
    ...(url === undefined ? [] : [note(`the broker at ${url} is not looked at`)]),
    ...databaseNote(platform),
  ];
  const disks = disksOf(platform);
  if (disks.length === 0) return elsewhere;
  const items = await listAll<StorageClass>(cluster, "/apis/storage.k8s.io/v1/storageclasses");
  const names = items.map(({ metadata }) => metadata.name);
  const wanted =
    storageClass === undefined
      ? items.find(({ metadata }) => metadata.annotations?.[isDefault] === "true")
      : items.find(({ metadata }) => metadata.name === storageClass);
  const there = names.length === 0 ? "there is none" : `there are ${names.join(", ")}`;
  if (wanted === undefined)
    return storageClass === undefined
      ? [...elsewhere, problem("no storage class is the default one", `set weir:nats.storageClass; ${there}`)]
      : [...elsewhere, problem(`there is no storage class "${storageClass}"`, `set weir:nats.storageClass; ${there}`)];
  const claims = await claimsOf(cluster, platform, disks);
  const claimed = claims.map(({ metadata }) => metadata.name);
  const missing = disks.filter(({ claim }) => !claimed.includes(claim));
  const keys = [...new Set(disks.map(({ key }) => key))];
  return [
    ...elsewhere,
    ...(await servingOf(cluster, wanted, disks, missing)),
    ...(wanted.allowVolumeExpansion === true
      ? []
      : [note(`its volumes cannot grow`, `choose ${keys.join(" and ")} for what is to come`)]),
    ...sizesOf(claims, disks, wanted),
  ];
}

function databaseNote({ history, historyDatabase }: Platform): Finding[] {
  if (!history || historyDatabase === undefined) return [];
  const { port } = historyDatabase;
  return [
    note(
      "the database of the history is not looked at",
      `it must be PostgreSQL 15 or later${port === undefined ? "" : `, which pods reach on port ${port}`}`,
    ),
  ];
}

function disksOf({ nats, history, historyDatabase, historyStorage }: Platform): readonly ClaimedDisk[] {
  const servers = nats.url === undefined ? Number(nats.replicas) : 0;
  return [
    ...Array.from({ length: servers }, (_, index) => ({
      claim: `data-nats-${index}`,
      size: nats.storage,
      key: "weir:nats.storage" as const,
    })),
    ...(history && historyDatabase === undefined
      ? [{ claim: "history", size: historyStorage, key: "weir:historyStorage" as const }]
      : []),
  ];
}

/** Existing claims of these disks, of an earlier platform or of this one. */
async function claimsOf(
  cluster: Cluster,
  { platformNamespace }: Platform,
  disks: readonly ClaimedDisk[],
): Promise<readonly Claim[]> {
  const path = `/api/v1/namespaces/${platformNamespace}/persistentvolumeclaims`;
  const names = disks.map(({ claim }) => claim);
  return (await listAll<Claim>(cluster, path)).filter(({ metadata }) => names.includes(metadata.name));
}

/** Whether the class can provision the missing disks. */
async function servingOf(
  cluster: Cluster,
  { metadata, provisioner = "" }: StorageClass,
  disks: readonly ClaimedDisk[],
  missing: readonly ClaimedDisk[],
): Promise<Finding[]> {
  const found = ok(`storage class ${metadata.name} for ${sizesIn(disks)}`);
  if (missing.length === 0) return [found];
  if (provisioner === "kubernetes.io/no-provisioner") {
    const volumes = await listAll<ListedVolume>(cluster, "/api/v1/persistentvolumes");
    const problems = volumeProblems(missing, volumes, metadata.name);
    return problems.length === 0 ? [found] : problems;
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
      `storage class ${metadata.name} makes file shares (${provisioner}), which neither JetStream nor SQLite supports`,
      "choose a class of disks with weir:nats.storageClass",
    ),
  ];
}

/** `3 × 10Gi and 1 × 5Gi`. */
function sizesIn(disks: readonly ClaimedDisk[]): string {
  const counts = new Map<string, number>();
  for (const { size } of disks) counts.set(size, (counts.get(size) ?? 0) + 1);
  return [...counts].map(([size, count]) => `${count} × ${size}`).join(" and ");
}

/** Claims of the broker's servers keep their size; that of the history can grow. */
function sizesOf(
  claims: readonly Claim[],
  disks: readonly ClaimedDisk[],
  { metadata, allowVolumeExpansion = false }: StorageClass,
): Finding[] {
  const kept: string[] = [];
  const findings: Finding[] = [];
  for (const { metadata: claim, spec } of claims) {
    const disk = disks.find(({ claim: name }) => name === claim.name);
    const size = spec.resources?.requests?.storage ?? "0";
    if (disk === undefined || storageBytes(size) === storageBytes(disk.size)) continue;
    if (disk.key === "weir:nats.storage") kept.push(`${claim.name} (${size})`);
    else if (storageBytes(size) > storageBytes(disk.size))
      findings.push(problem(`claim ${claim.name} of ${size} cannot shrink`, `set ${disk.key} to ${size} or more`));
    else if (!allowVolumeExpansion)
      findings.push(
        problem(
          `claim ${claim.name} of ${size} cannot grow, as class ${metadata.name} does not allow it`,
          `set ${disk.key} to ${size}`,
        ),
      );
  }
  if (kept.length > 0) {
    const { size = "" } = disks.find(({ key }) => key === "weir:nats.storage") ?? {};
    findings.push(
      note(
        `claims of another size are there and keep it: ${kept.join(", ")}`,
        `weir:nats.storage is ${size}; docs/install.md says how they grow`,
      ),
    );
  }
  return findings;
}
