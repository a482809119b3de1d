import { problem, type Finding } from "./finding.ts";
import { roomOf } from "./pod-requests.ts";

/** A disk that the platform claims. */
export interface ClaimedDisk {
  /** Name of the claim. */
  readonly claim: string;
  readonly size: string;
  /** The key of a stack that sets its size. */
  readonly key: "weir:nats.storage" | "weir:historyStorage";
}

/** The parts of a volume of the cluster that are read. */
export interface ListedVolume {
  readonly spec: {
    readonly storageClassName?: string;
    readonly accessModes?: readonly string[];
    readonly capacity?: { readonly storage?: string };
  };
  readonly status?: { readonly phase?: string };
}

/** What volumes of a class that makes none are missing for these disks; the largest disks are served first. */
export function volumeProblems(
  disks: readonly ClaimedDisk[],
  volumes: readonly ListedVolume[],
  className: string,
): Finding[] {
  const free = volumes
    .filter((volume) => isFree(volume, className))
    .map(({ spec }) => storageBytes(spec.capacity?.storage))
    .toSorted((one, other) => one - other);
  const unserved: ClaimedDisk[] = [];
  for (const disk of disks.toSorted((one, other) => storageBytes(other.size) - storageBytes(one.size))) {
    const at = free.findIndex((size) => size >= storageBytes(disk.size));
    if (at >= 0) free.splice(at, 1);
    else unserved.push(disk);
  }
  return [...new Set(unserved.map(({ key }) => key))].map((key) => {
    const wanted = disks.filter((disk) => disk.key === key);
    const there = wanted.length - unserved.filter((disk) => disk.key === key).length;
    return problem(
      `storage class ${className} makes no volumes, and of ${wanted.length} × ${wanted[0]?.size} has ${there}`,
      `add volumes, set ${key} to what they have, or choose another weir:nats.storageClass`,
    );
  });
}

function isFree({ spec, status }: ListedVolume, className: string): boolean {
  return (
    status?.phase === "Available" &&
    spec.storageClassName === className &&
    spec.accessModes?.includes("ReadWriteOnce") === true
  );
}

/** Bytes of a size such as `10Gi`; none is 0. */
export function storageBytes(size = "0"): number {
  return roomOf({ memory: size }).memory;
}
