import type * as pulumi from "@pulumi/pulumi";

import { queueWorkerManifests } from "../../manifests/processes/queue-workers.ts";
import { Part } from "./part.ts";
import type { PlatformArgs } from "../platform-args.ts";

/** A Deployment for each queue. */
export class QueueWorkers extends Part {
  constructor(name: string, args: PlatformArgs, options?: pulumi.ComponentResourceOptions) {
    super("QueueWorkers", name, { ...args, objects: queueWorkerManifests(args.platform) }, options);
  }
}
