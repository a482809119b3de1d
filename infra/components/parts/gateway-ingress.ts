import type * as pulumi from "@pulumi/pulumi";

import { httpRouteManifests } from "../../manifests/http-route.ts";
import { ingressManifests } from "../../manifests/ingress.ts";
import { Part } from "./part.ts";
import type { PlatformArgs } from "../platform-args.ts";

/** The entry point from outside; without children when no host is set. */
export class GatewayIngress extends Part {
  constructor(name: string, args: PlatformArgs, options?: pulumi.ComponentResourceOptions) {
    const objects = [...ingressManifests(args.platform), ...httpRouteManifests(args.platform)];
    super("GatewayIngress", name, { ...args, objects }, options);
  }
}
