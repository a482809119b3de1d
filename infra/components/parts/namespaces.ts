import type * as pulumi from "@pulumi/pulumi";

import { namespaceManifests } from "../../manifests/namespaces.ts";
import { Part } from "./part.ts";
import type { PlatformArgs } from "../platform-args.ts";

/** The namespaces of the platform and of functions. */
export class Namespaces extends Part {
  constructor(name: string, args: PlatformArgs, options?: pulumi.ComponentResourceOptions) {
    super("Namespaces", name, { ...args, objects: namespaceManifests(args.platform) }, options);
  }
}
