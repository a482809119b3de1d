import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";

import type { Command } from "./command.ts";

/** Starts processes as leaders of their own groups and leaves no process of a group behind. */
export class ProcessGroups {
  readonly #groups = new Set<number>();

  /** As `spawn`; processes that it started and left are killed when it ends. */
  start([program, ...args]: Command, options: Pick<SpawnOptions, "env" | "stdio">): ChildProcess {
    const child = spawn(program, args, { ...options, detached: true, shell: false });
    const { pid } = child;
    if (pid !== undefined) {
      this.#groups.add(pid);
      child.once("exit", () => {
        signalGroup(pid, "SIGKILL");
        this.#groups.delete(pid);
      });
    }
    return child;
  }

  /** Sends a signal to the whole group of `child` while its leader lives. */
  signal(child: ChildProcess, signal: NodeJS.Signals): void {
    if (child.pid !== undefined && this.#groups.has(child.pid)) signalGroup(child.pid, signal);
  }

  /** Kills every group, at once. */
  killAll(): void {
    for (const pid of this.#groups) signalGroup(pid, "SIGKILL");
    this.#groups.clear();
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // No process of the group is left.
  }
}
