import type * as pulumi from "@pulumi/pulumi";

import { ingressManifests } from "../manifests/ingress.ts";
import { Part } from "./part.ts";
import type { PlatformArgs } from "./platform-args.ts";

/** The way in from outside; without children when no host is named. */
export class GatewayIngress extends Part {
  constructor(name: string, args: PlatformArgs, options?: pulumi.ComponentResourceOptions) {
    super("GatewayIngress", name, { ...args, objects: ingressManifests(args.platform) }, options);
  }
}
