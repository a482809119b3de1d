import { existsSync } from "node:fs";
import { join } from "node:path";

import type { TestProject } from "vitest/node";

import { environment } from "../../runtime/process/settings.ts";
import { clusterBinaries, clusterLevels, type ClusterLevel } from "../../scripts/cluster/places.ts";

/** The cluster that tests use. */
export interface GivenCluster {
  readonly kubeconfig: string;
  readonly level: ClusterLevel;
  readonly kubectl: string;
  /** Its directory, if it is one of `scripts/cluster`. */
  readonly directory?: string;
}

declare module "vitest" {
  interface ProvidedContext {
    /** Or why there is none. */
    cluster: GivenCluster | { readonly missing: string };
  }
}

/** Provides the cluster to the tests of project `cluster`; vitest calls it before the first of them. */
export function setup(project: TestProject): void {
  project.provide("cluster", givenCluster(environment()));
}

/** The cluster that the environment names, never one that merely happens to run. */
export function givenCluster(
  variables: Readonly<Record<string, string | undefined>>,
): GivenCluster | { readonly missing: string } {
  const { WEIR_TEST_CLUSTER, KUBECONFIG, WEIR_TEST_CLUSTER_LEVEL = "node", WEIR_TEST_CLUSTER_DIR } = variables;
  if (WEIR_TEST_CLUSTER !== "existing" || KUBECONFIG === undefined || KUBECONFIG === "") {
    return {
      missing:
        'no cluster was named: run "npm run test:cluster", or set WEIR_TEST_CLUSTER=existing and KUBECONFIG to use one that runs',
    };
  }
  const level = clusterLevels.find((each) => each === WEIR_TEST_CLUSTER_LEVEL);
  if (level === undefined) {
    return { missing: `WEIR_TEST_CLUSTER_LEVEL is "${WEIR_TEST_CLUSTER_LEVEL}": one of ${clusterLevels.join(", ")}` };
  }
  const built = join(clusterBinaries(), "kubectl");
  return {
    kubeconfig: KUBECONFIG,
    level,
    kubectl: existsSync(built) ? built : "kubectl",
    ...(WEIR_TEST_CLUSTER_DIR !== undefined && { directory: WEIR_TEST_CLUSTER_DIR }),
  };
}
