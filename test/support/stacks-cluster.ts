import { afterAll, beforeAll } from "vitest";

import { loadBaseImage } from "./cluster-images.ts";
import { loadPlatformImages } from "./cluster-platform.ts";
import { missingPulumi, pulumiCommand } from "./engine-stack.ts";
import { say } from "./say.ts";
import { openTestCluster, type TestCluster } from "./test-cluster.ts";

/** Whether the command `pulumi` exists; stacks on real pods need it. */
export const hasPulumi = pulumiCommand() !== undefined;

/** Timeout of a step of a stack on real pods, milliseconds. */
export const longStep = 400_000;

/** CPU requests that fit on a node of two processors, with functions beside the platform. */
export const smallCpu = {
  nats: "50m",
  gateway: "50m",
  queueWorker: "50m",
  queueDoctor: "50m",
  autoscaler: "50m",
  operator: "50m",
  history: "50m",
};

/** Configuration that fits on a node of two processors, with functions beside the platform. */
export const smallStack = {
  "weir:nats": { replicas: 1, storage: "1Gi" },
  "weir:gateway": { replicas: 2 },
  "weir:queueDoctor": { replicas: 1 },
  "weir:autoscaler": { replicas: 1 },
  "weir:operator": { replicas: 1 },
  "weir:queueWorkers": 1,
  "weir:cpu": smallCpu,
};

/** A cluster with real pods for stacks, and the image of a function in it. */
export interface StacksCluster {
  readonly cluster: TestCluster;
  readonly image: string;
}

/** Opens one for the calling test file, with the images of the platform; without `pulumi` it prints why not. */
export function stacksCluster(): () => StacksCluster {
  let opened: TestCluster | undefined;
  let image = "";
  if (!hasPulumi) say(`Skipped: stacks on real pods; ${missingPulumi}`);

  beforeAll(async () => {
    if (!hasPulumi) return;
    opened = await openTestCluster();
    await loadPlatformImages(opened);
    image = await loadBaseImage(opened);
  }, longStep);
  afterAll(() => opened?.close(), longStep);

  return () => {
    if (opened === undefined) throw new Error("Cannot open a stack: there is no cluster");
    return { cluster: opened, image };
  };
}
