import type * as pulumi from "@pulumi/pulumi";

import { accessManifests } from "../../manifests/rights/access.ts";
import { Part } from "./part.ts";
import type { PlatformArgs } from "../platform-args.ts";

/** Accounts of the processes, and their rights. */
export class Access extends Part {
  constructor(name: string, args: PlatformArgs, options?: pulumi.ComponentResourceOptions) {
    super("Access", name, { ...args, objects: accessManifests(args.platform) }, options);
  }
}
