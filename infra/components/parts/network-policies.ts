import type * as pulumi from "@pulumi/pulumi";

import { networkPolicyManifests } from "../../manifests/network-policies.ts";
import { Part } from "./part.ts";
import type { PlatformArgs } from "../platform-args.ts";

/** What may reach what in the namespace of the platform. */
export class NetworkPolicies extends Part {
  constructor(name: string, args: PlatformArgs, options?: pulumi.ComponentResourceOptions) {
    super("NetworkPolicies", name, { ...args, objects: networkPolicyManifests(args.platform) }, options);
  }
}
