import type * as pulumi from "@pulumi/pulumi";

import { operatorManifests } from "../../manifests/processes/operator.ts";
import { Part } from "./part.ts";
import type { PlatformArgs } from "../platform-args.ts";

/** Reconciles custom resources; without it they have no effect. */
export class Operator extends Part {
  constructor(name: string, args: PlatformArgs, options?: pulumi.ComponentResourceOptions) {
    super("Operator", name, { ...args, objects: operatorManifests(args.platform) }, options);
  }
}
