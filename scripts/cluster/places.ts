import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

import { environment } from "../../runtime/process/settings.ts";

/** What runs in a cluster; each level includes the one before: see docs/contributing/tests.md. */
export const clusterLevels = ["api", "kwok", "node"] as const;

export type ClusterLevel = (typeof clusterLevels)[number];

/** Where the binaries of the cluster are kept. */
export function clusterBinaries(): string {
  const { WEIR_CLUSTER_BIN, XDG_CACHE_HOME = join(homedir(), ".cache") } = environment();
  return WEIR_CLUSTER_BIN ?? join(XDG_CACHE_HOME, "weir-cluster", "bin");
}

/** The default directory of a cluster. */
export function defaultClusterDirectory(): string {
  return join(tmpdir(), "weir-cluster");
}
