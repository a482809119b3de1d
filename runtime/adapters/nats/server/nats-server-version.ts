import { natsVersion } from "../../../api/version.ts";
import { runCommand, type Environment } from "./run-command.ts";

/** The version that is installed when the machine has none. */
export const pinnedVersion: string = natsVersion;

/** Older servers lack per-message TTL and have known faults in the store. */
export const oldestVersion = "2.12.7";

const runTimeout = 10_000;

/** Negative, 0 or positive as `left` is older than, the same as, or newer than `right`; both like `2.15.1`. */
export function compareVersions(left: string, right: string): number {
  const rights = right.split(".").map(Number);
  for (const [index, part] of left.split(".").map(Number).entries()) {
    const difference = part - (rights[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A version without its patch number: `2.15` of `2.15.1`. */
export function minorOf(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}

/** Version in the output of `nats-server --version`, e.g. `2.15.1`; undefined for any other output. */
export function parseVersion(output: string): string | undefined {
  return /^nats-server: v(\d+\.\d+\.\d+)/m.exec(output)?.[1];
}

/** Runs a binary for its version; undefined when it does not run, or is another program. */
export async function readNatsServerVersion(path: string, environment: Environment): Promise<string | undefined> {
  const result = await runCommand(path, ["--version"], { environment, timeout: runTimeout });
  return result.code === 0 ? parseVersion(result.stdout) : undefined;
}
