import type * as pulumi from "@pulumi/pulumi";

import { natsManifests } from "../manifests/nats.ts";
import { Part } from "./part.ts";
import type { PlatformArgs } from "./platform-args.ts";

/** The broker; without children when it runs elsewhere. */
export class Nats extends Part {
  constructor(name: string, { platform, podAnnotations }: PlatformArgs, options?: pulumi.ComponentResourceOptions) {
    super("Nats", name, { objects: natsManifests(platform), podAnnotations }, options);
  }
}
