import * as pulumi from "@pulumi/pulumi";

import { databaseFacts, type DatabaseFacts } from "../../manifests/history/database-address.ts";
import { networkPolicyManifests } from "../../manifests/network-policies.ts";
import { readApiServer } from "../api-server.ts";
import { Part } from "./part.ts";
import type { PlatformArgs } from "../platform-args.ts";

/** Arguments of the network policies. */
export interface NetworkPoliciesArgs extends PlatformArgs {
  /** Address of the history's database, if it has one. */
  readonly historyDatabase?: pulumi.Input<string> | undefined;
}

/** Allowed connections in the namespace of the platform. */
export class NetworkPolicies extends Part {
  constructor(name: string, args: NetworkPoliciesArgs, options: pulumi.ComponentResourceOptions = {}) {
    const { platform, historyDatabase } = args;
    const apiServer = readApiServer(`${name}-api-server`, platform.apiServer, options);
    // Of the address, only the port is told.
    const database = pulumi.unsecret(pulumi.output(historyDatabase)).apply((address) => facts(address));
    const known = pulumi
      .all([apiServer, database])
      .apply(([server, found]) =>
        networkPolicyManifests({ ...platform, apiServer: server, historyDatabase: platform.historyDatabase && found }),
      );
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

/** An address that only other resources know is checked once it is there. */
function facts(address: string | undefined): DatabaseFacts | undefined {
  const found = address === undefined || address === "" ? undefined : databaseFacts(address);
  if (found === undefined || !("expected" in found)) return found;
  throw new pulumi.RunError(`historyDatabase: expected ${found.expected}`);
}
