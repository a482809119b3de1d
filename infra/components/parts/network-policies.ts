import type * as pulumi from "@pulumi/pulumi";

import { networkPolicyManifests } from "../../manifests/network-policies.ts";
import { readApiServer } from "../api-server.ts";
import { Part } from "./part.ts";
import type { PlatformArgs } from "../platform-args.ts";

/** Allowed connections in the namespace of the platform. */
export class NetworkPolicies extends Part {
  constructor(name: string, args: PlatformArgs, options: pulumi.ComponentResourceOptions = {}) {
    const { platform } = args;
    const apiServer = readApiServer(`${name}-api-server`, platform.apiServer, options);
    const known = apiServer.apply((server) => networkPolicyManifests({ ...platform, apiServer: server }));
    const objects = networkPolicyManifests(platform);
    const fillObject: PlatformArgs["fillObject"] = (object) => ({
      ...object,
      spec: known.apply(
        (policies) => policies.find(({ metadata: { name: each } }) => each === object.metadata.name)?.["spec"],
      ),
    });
    super("NetworkPolicies", name, { ...args, objects, fillObject }, options);
  }
}
