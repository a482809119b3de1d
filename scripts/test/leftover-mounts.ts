import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const mounts = "/proc/self/mounts";

/** Mount points below `directory`, the innermost first. */
export function leftoverMounts(directory: string): readonly string[] {
  if (!existsSync(mounts)) return [];
  return readFileSync(mounts, "utf8")
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "")
    .filter((place) => place.startsWith(`${directory}/`))
    .reverse();
}

/** Unmounts what the tests left mounted, as their directory could not be removed otherwise. */
export function endMounts(places: readonly string[]): void {
  for (const place of places) execFileSync("umount", ["--lazy", place]);
}
