import type * as pulumi from "@pulumi/pulumi";

import { queueDoctorManifests } from "../../manifests/processes/queue-doctor.ts";
import { Part } from "./part.ts";
import type { PlatformArgs } from "../platform-args.ts";

/** Provisions the queues that the stack declares. */
export class QueueDoctor extends Part {
  constructor(name: string, args: PlatformArgs, options?: pulumi.ComponentResourceOptions) {
    super("QueueDoctor", name, { ...args, objects: queueDoctorManifests(args.platform) }, options);
  }
}
