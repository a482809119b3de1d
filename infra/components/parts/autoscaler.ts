import type * as pulumi from "@pulumi/pulumi";

import { autoscalerManifests } from "../../manifests/processes/autoscaler.ts";
import { Part } from "./part.ts";
import type { PlatformArgs } from "../platform-args.ts";

/** Scales functions by their load. */
export class Autoscaler extends Part {
  constructor(name: string, args: PlatformArgs, options?: pulumi.ComponentResourceOptions) {
    super("Autoscaler", name, { ...args, objects: autoscalerManifests(args.platform) }, options);
  }
}
