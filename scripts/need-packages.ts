import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Installs all npm packages if one of `names` is missing because only those that run Weir are installed; keeps existing
 * ones.
 * @throws Error when they cannot be installed
 */
export function needPackages(names: readonly string[]): void {
  if (names.every((name) => existsSync(join(root, "node_modules", name)))) return;
  const { status } = spawnSync(process.execPath, ["scripts/setup.js"], { cwd: root, stdio: "inherit" });
  if (status !== 0) throw new Error(`Cannot go on without the npm packages ${names.join(", ")}`);
}
