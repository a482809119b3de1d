import type * as pulumi from "@pulumi/pulumi";

import { operatorManifests } from "../../manifests/processes/operator.ts";
import { Part } from "./part.ts";
import type { PlatformArgs } from "../platform-args.ts";

/** Makes Functions true; nothing becomes of a custom resource without it. */
export class Operator extends Part {
  constructor(name: string, args: PlatformArgs, options?: pulumi.ComponentResourceOptions) {
    super("Operator", name, { ...args, objects: operatorManifests(args.platform) }, options);
  }
}
