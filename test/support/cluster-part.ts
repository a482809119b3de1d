import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { eventually } from "./eventually.ts";
import { isAlive, livingProcess, type KnownProcess } from "./process-tree.ts";

/** A process of a cluster of `scripts/cluster`: kube-apiserver, kubelet … */
export interface ClusterPart {
  /** Suspends it: it neither responds nor ends until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Sends SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again with the same arguments and environment; the cluster's `down` will find it. */
  restart(): Promise<void>;
}

/**
 * The process that was started under this name for the cluster in `directory`.
 * @throws Error if it does not run
 */
export async function clusterPart(directory: string, name: string): Promise<ClusterPart> {
  const file = join(directory, "pid", name);
  const [pid, startedAt] = (await readFile(file, "utf8")).trim().split(" ");
  const known = livingProcess(Number(pid));
  if (known === undefined || known.startedAt !== startedAt)
    throw new Error(`Cannot disturb "${name}": it does not run in ${directory}`);
  let current: KnownProcess = known;
  const raw = await readFile(`/proc/${known.pid}/cmdline`, "utf8");
  const [program = "", ...args] = raw.split("\0").slice(0, -1);
  // Its own directory and environment: it belongs to the cluster, not to the tests.
  const cwd = await readlink(`/proc/${known.pid}/cwd`);
  const variables = (await readFile(`/proc/${known.pid}/environ`, "utf8")).split("\0").filter((each) => each !== "");
  const env = Object.fromEntries(
    variables.map((each) => [each.slice(0, each.indexOf("=")), each.slice(each.indexOf("=") + 1)]),
  );
  const signal = (which: NodeJS.Signals): void => {
    if (!isAlive(current)) throw new Error(`Cannot send ${which} to "${name}": it does not run`);
    process.kill(current.pid, which);
  };
  return {
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    kill: async () => {
      signal("SIGKILL");
      await eventually(() => !isAlive(current), { what: `"${name}" to be gone` });
    },
    restart: async () => {
      if (isAlive(current)) return;
      // The kernel may hold the ports of a killed process for a moment after it is gone.
      current = await eventually(start, { what: `"${name}" to run again` });
      await writeFile(file, `${current.pid} ${current.startedAt}\n`);
    },
  };

  /** Undefined if it ended within a second. */
  async function start(): Promise<KnownProcess | undefined> {
    const log = openSync(join(directory, "log", `${name}.log`), "a");
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ["ignore", log, log] });
    closeSync(log);
    child.unref();
    const started = child.pid === undefined ? undefined : livingProcess(child.pid);
    await Promise.race([once(child, "exit"), pause(1_000)]);
    return started !== undefined && isAlive(started) ? started : undefined;
  }
}
