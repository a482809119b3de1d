import { join } from "node:path";

import { quarantineFaults, readQuarantine } from "./quarantine.ts";

/** Reports invalid lines of the quarantine, and then exits with 1. */
const root = join(import.meta.dirname, "..", "..");
for (const fault of quarantineFaults(await readQuarantine(root), root, Date.now())) {
  console.error(fault);
  process.exitCode = 1;
}
