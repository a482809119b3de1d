import { afterAll, beforeAll } from "vitest";

import { missingPulumi, pulumiCommand } from "./engine-stack.ts";
import { hasPretendedCluster, openPretendedCluster } from "./pretended-cluster.ts";
import { say } from "./say.ts";
import type { TestCluster } from "./test-cluster.ts";

/** A cluster with simulated pods for stacks of Pulumi, where one is possible. */
export interface PretendedStacks {
  /** Whether the command exists and a cluster is possible. */
  readonly isThere: boolean;
  /** Opened before the tests of the file, in which it may be called. */
  readonly cluster: () => TestCluster;
}

/** Opens one for the calling test file; where it cannot, it prints that `what` is skipped. */
export function pretendedStacks(what: string): PretendedStacks {
  const missing = pulumiCommand() === undefined ? missingPulumi : "there is no cluster of level kwok";
  const isThere = pulumiCommand() !== undefined && hasPretendedCluster();
  if (!isThere) say(`${what} are skipped: ${missing}`);
  let opened: TestCluster | undefined;

  beforeAll(async () => {
    if (isThere) opened = await openPretendedCluster();
  });
  afterAll(() => opened?.close());

  const cluster = (): TestCluster => {
    if (opened === undefined) throw new Error("Cannot open a stack: there is no cluster");
    return opened;
  };
  return { isThere, cluster };
}
