import { Service } from "@pulumi/kubernetes/core/v1/service.js";
import * as pulumi from "@pulumi/pulumi";

import { gatewayManifests, gatewayPort } from "../../manifests/processes/gateway.ts";
import { Part } from "./part.ts";
import type { PlatformArgs } from "../platform-args.ts";

/** Receives all calls and requests. */
export class Gateway extends Part {
  /** Address from a load balancer of the cluster; undefined when it has none. */
  readonly balancedUrl: pulumi.Output<string | undefined>;

  constructor(name: string, args: PlatformArgs, options?: pulumi.ComponentResourceOptions) {
    super("Gateway", name, { ...args, objects: gatewayManifests(args.platform) }, options);
    const service = this.resources.get("Service gateway");
    this.balancedUrl =
      service instanceof Service && args.platform.gateway.serviceType === "LoadBalancer"
        ? service.status.apply((status) => balancedUrl(status?.loadBalancer?.ingress?.[0] ?? {}))
        : pulumi.output(undefined);
  }
}

function balancedUrl({ hostname, ip }: { readonly hostname?: string; readonly ip?: string }): string | undefined {
  const host = hostname ?? (ip?.includes(":") === true ? `[${ip}]` : ip);
  return host === undefined ? undefined : `http://${host}:${gatewayPort}`;
}
