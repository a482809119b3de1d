import { randomBytes } from "node:crypto";

import { inject } from "vitest";

import { runClusterScript } from "../../scripts/cluster/run-script.ts";
import { ownDirectory } from "../../scripts/test-cluster/abandoned-clusters.ts";
import { givenCluster, type GivenCluster } from "./cluster-setup.ts";
import { openGivenCluster, openTestCluster, type TestCluster } from "./test-cluster.ts";

/** Whether `openPretendedCluster` can open one: not on anybody else's cluster, whose nodes pull images. */
export function hasPretendedCluster(): boolean {
  const given = inject("cluster");
  return !("missing" in given) && given.directory !== undefined;
}

/**
 * A cluster whose pods are only simulated, whatever their images: the given cluster if it is of level `kwok`, else a
 * new one beside it, which `close` removes.
 */
export async function openPretendedCluster(): Promise<TestCluster> {
  const given = inject("cluster");
  if ("missing" in given || given.level === "kwok") return openTestCluster();
  const directory = ownDirectory();
  const down = async (): Promise<void> => void (await runClusterScript("down", ["--dir", directory], { apart: true }));
  try {
    if ((await runClusterScript("up", ["--level", "kwok", "--dir", directory])) !== 0) {
      throw new Error("Cannot start a cluster of level kwok: see above");
    }
    const own = givenCluster({
      WEIR_TEST_CLUSTER: "existing",
      WEIR_TEST_CLUSTER_LEVEL: "kwok",
      WEIR_TEST_CLUSTER_DIR: directory,
      KUBECONFIG: `${directory}/kubeconfig`,
    }) as GivenCluster;
    const opened = await openGivenCluster(own, `weir-test-${randomBytes(4).toString("hex")}`);
    const close = async (): Promise<void> => {
      try {
        await opened.close();
      } finally {
        await down();
      }
    };
    return { ...opened, close, [Symbol.asyncDispose]: close };
  } catch (err) {
    await down();
    throw err;
  }
}
