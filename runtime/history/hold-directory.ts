import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { holdLock } from "../process/hold-lock.ts";
import type { Lifecycle } from "../process/lifecycle.ts";

/**
 * Creates the directory of the history's files (mode 0700) if it does not exist, and locks it for this process.
 * @throws Error when another process has it, or it cannot be written
 */
export async function holdDirectory(path: string, lifecycle: Lifecycle): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const lock = await holdLock(join(path, "lock"));
  if ("heldBy" in lock) throw new Error(`Cannot open the history in "${path}": process ${lock.heldBy} uses it`);
  lifecycle.onClose("directory", () => lock.release());
}
