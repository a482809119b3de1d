import type * as pulumi from "@pulumi/pulumi";

import { historyManifests } from "../../manifests/processes/history.ts";
import { Part } from "./part.ts";
import type { PlatformArgs } from "../platform-args.ts";

/** Keeps the history of calls, on a disk or in a database. */
export class History extends Part {
  constructor(name: string, args: PlatformArgs, options?: pulumi.ComponentResourceOptions) {
    super("History", name, { ...args, objects: historyManifests(args.platform) }, options);
  }
}
