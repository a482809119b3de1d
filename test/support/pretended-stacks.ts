import { afterAll, beforeAll } from "vitest";

import { missingPulumi, pulumiCommand } from "./engine-stack.ts";
import { hasPretendedCluster, openPretendedCluster } from "./pretended-cluster.ts";
import { say } from "./say.ts";
import type { TestCluster } from "./test-cluster.ts";

/** A cluster for stacks of Pulumi whose pods are only pretended, where there can be one. */
export interface PretendedStacks {
  /** Whether there is the command, and can be a cluster. */
  readonly isThere: boolean;
  /** Opened before the tests of the file; to be asked for in them. */
  readonly cluster: () => TestCluster;
}

/** Has one for the file it is called in; where it cannot, it says that `what` is skipped. */
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
