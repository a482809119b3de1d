import type * as pulumi from "@pulumi/pulumi";

import { queueWorkerManifests } from "../manifests/queue-workers.ts";
import { Part } from "./part.ts";
import type { PlatformArgs } from "./platform-args.ts";

/** A Deployment for each queue. */
export class QueueWorkers extends Part {
  constructor(name: string, { platform, podAnnotations }: PlatformArgs, options?: pulumi.ComponentResourceOptions) {
    super("QueueWorkers", name, { objects: queueWorkerManifests(platform), podAnnotations }, options);
  }
}
