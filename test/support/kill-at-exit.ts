import type { ChildProcess } from "node:child_process";

/**
 * Ends a child if it still runs when this process exits: a test process that is killed closes nothing. `group`: with
 * the process group that it leads (`detached`). SIGTERM is for those that end children of their own.
 */
export function killAtExit(
  child: ChildProcess,
  { signal = "SIGKILL", group = false }: { readonly signal?: NodeJS.Signals; readonly group?: boolean } = {},
): void {
  const end = (): void => {
    if (!group || child.pid === undefined) child.kill(signal);
    else process.kill(-child.pid, signal);
  };
  process.once("exit", end);
  child.once("exit", () => process.off("exit", end));
}

/** Whether a child was started and has not ended. */
export function isRunningChild({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}
