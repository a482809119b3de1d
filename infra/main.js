// Plain JavaScript: a Node that cannot read the program must be able to say so.
import { RunError } from "@pulumi/pulumi";

import { nodeFault } from "./node-fault.js";

const fault = nodeFault(process.versions.node);
if (fault !== undefined) throw new RunError(fault);

export const { gatewayUrl, publicUrl, adminUser, adminPassword, queues, edition, portForward } =
  await import("./index.ts");
