import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";

import { findTool, installedTool } from "./debian-tool.ts";

/** Where Debian has the programs of each release; they are in no directory of `PATH`. */
const releases = "/usr/lib/postgresql";

/**
 * The directory of the newest PostgreSQL server on this machine; as root on Debian it is installed where there is none,
 * which is reported. Undefined when it is not available.
 */
export function postgresPrograms(say: (line: string) => void): string | undefined {
  const found = installedTool("postgres", "postgresql", say, (tool) => findTool(tool, directories()) ?? findTool(tool));
  return found === undefined ? undefined : dirname(found);
}

function directories(): readonly string[] {
  let names: readonly string[];
  try {
    names = readdirSync(releases);
  } catch {
    return [];
  }
  return names.toSorted((one, other) => Number(other) - Number(one)).map((name) => join(releases, name, "bin"));
}
