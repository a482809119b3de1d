import { join } from "node:path";

import { quarantineFaults, readQuarantine } from "./quarantine.ts";

/** Says which lines of the quarantine may not stand there, and ends with code 1 then. */
const root = join(import.meta.dirname, "..", "..");
for (const fault of quarantineFaults(await readQuarantine(root), root, Date.now())) {
  console.error(fault);
  process.exitCode = 1;
}
