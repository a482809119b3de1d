import type * as pulumi from "@pulumi/pulumi";

import { natsManifests } from "../../manifests/broker/nats.ts";
import { Part } from "./part.ts";
import type { PlatformArgs } from "../platform-args.ts";

/** The broker; without children when it runs elsewhere. */
export class Nats extends Part {
  constructor(name: string, args: PlatformArgs, options?: pulumi.ComponentResourceOptions) {
    super("Nats", name, { ...args, objects: natsManifests(args.platform) }, options);
  }
}
