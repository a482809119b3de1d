import type * as pulumi from "@pulumi/pulumi";

import { iamManifests } from "../../manifests/iam/iam-objects.ts";
import { Part } from "./part.ts";
import type { PlatformArgs } from "../platform-args.ts";

/** Issuers, policies and roles that the stack names. */
export class IamRules extends Part {
  constructor(name: string, args: PlatformArgs, options?: pulumi.ComponentResourceOptions) {
    super("IamRules", name, { ...args, objects: iamManifests(args.platform) }, options);
  }
}
