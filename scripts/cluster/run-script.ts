import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { runCommand } from "../../runtime/adapters/nats/server/run-command.ts";
import { environment } from "../../runtime/process/settings.ts";

/** Programs of this folder. */
export type ClusterScript = "build" | "up" | "down" | "load" | "status";

export interface RunScriptOptions {
  /** Continues when the person at the terminal presses Ctrl-C. */
  readonly apart?: boolean;
  /** Ends it. */
  readonly signal?: AbortSignal;
}

/** Runs one of the cluster's programs on this terminal; resolves with its exit code. */
export async function runClusterScript(
  name: ClusterScript,
  args: readonly string[],
  { apart = false, signal }: RunScriptOptions = {},
): Promise<number> {
  const child = spawn(join(import.meta.dirname, name), args, { stdio: "inherit", detached: apart });
  const end = (): void => void child.kill("SIGTERM");
  signal?.addEventListener("abort", end, { once: true });
  const [code] = (await once(child, "exit")) as [number | null];
  signal?.removeEventListener("abort", end);
  return code ?? 1;
}

/**
 * Names of the binaries that `build` would make with these arguments.
 * @throws Error with the message of `build`
 */
export async function missingBinaries(args: readonly string[]): Promise<readonly string[]> {
  const build = join(import.meta.dirname, "build");
  const result = await runCommand(build, [...args, "--missing"], { environment: environment(), timeout: 60_000 });
  if (result.code !== 0) throw new Error(`Cannot tell what is built of the cluster: ${result.stderr.trim()}`);
  return result.stdout.split("\n").filter((name) => name !== "");
}
