// JavaScript, not TypeScript: a Node.js that cannot read the program must still be able to report that.
import { RunError } from "@pulumi/pulumi";

import { nodeFault } from "./node-fault.js";

const fault = nodeFault(process.versions.node);
if (fault !== undefined) throw new RunError(fault);

export const { gatewayUrl, publicUrl, consoleUrl, adminUser, adminPassword, queues, edition, portForward } =
  await import("./index.ts");
