import { natsVersion } from "../../../api/version.ts";
import { runCommand, type Environment } from "./run-command.ts";

/** The version that is installed when the machine has none. */
export const pinnedVersion: string = natsVersion;

/** Older ones lack per-message TTL and have known holes in the store. */
export const oldestVersion = "2.12.7";

const answerTimeout = 10_000;

/** Negative, 0 or positive as `left` is older than, the same as, or newer than `right`; both like `2.15.1`. */
export function compareVersions(left: string, right: string): number {
  const rights = right.split(".").map(Number);
  for (const [index, part] of left.split(".").map(Number).entries()) {
    const difference = part - (rights[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The same without the last number: `2.15` of `2.15.1`. */
export function minorOf(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}

/** Version in the answer to `nats-server --version`, e.g. `2.15.1`; undefined if it is no such answer. */
export function parseVersion(answer: string): string | undefined {
  return /^nats-server: v(\d+\.\d+\.\d+)/m.exec(answer)?.[1];
}

/** Asks a binary for its version; undefined when it does not run, or is something else. */
export async function readNatsServerVersion(path: string, environment: Environment): Promise<string | undefined> {
  const result = await runCommand(path, ["--version"], { environment, timeout: answerTimeout });
  return result.code === 0 ? parseVersion(result.stdout) : undefined;
}
