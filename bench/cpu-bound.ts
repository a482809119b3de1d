import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { BenchSkipped } from "./bench-row.ts";

/** Microseconds in which a process gets its share; short, so that calls wait for the next one but shortly. */
const period = 20_000;
const ownGroup = /^weir-bench-(\d+)-/;
/** A group is busy for a moment after its last process ended. */
const removal = { tries: 50, pause: 20 } as const;
let opened = 0;

/** A control group whose processes together get a share of one core. */
export interface CpuBound {
  /** The command line that runs `command` within the bound from its first instruction on. */
  within(command: readonly string[]): readonly string[];
  /** Removes the group; its processes have ended. */
  close(): Promise<void>;
}

/**
 * Makes a control group that gets `share` of one core.
 * @throws BenchSkipped where that cannot be had, and says why
 */
export function openCpuBound(share: number): CpuBound {
  const root = findRoot();
  removeLeftOver(root.path);
  const group = join(root.path, `weir-bench-${process.pid}-${opened++}`);
  try {
    mkdirSync(group);
  } catch (err) {
    throw new BenchSkipped(`a process cannot be bound to a share of a core: ${String(err)}`, { cause: err });
  }
  try {
    for (const [file, text] of root.limit(share * period)) writeFileSync(join(group, file), text);
  } catch (err) {
    rmdirSync(group);
    throw new BenchSkipped(`a process cannot be bound to a share of a core: ${String(err)}`, { cause: err });
  }
  return {
    within: (command) => ["sh", "-c", 'echo $$ > "$0" && exec "$@"', join(group, "cgroup.procs"), ...command],
    close: () => removeGroup(group),
  };
}

/** Where groups are made, and what is written into one that gets `quota` microseconds of each period. */
interface GroupRoot {
  readonly path: string;
  readonly limit: (quota: number) => readonly (readonly [file: string, text: string])[];
}

function findRoot(): GroupRoot {
  if (process.getuid?.() !== 0) throw new BenchSkipped("only root may bind a process to a share of a core");
  const mounts = existsSync("/proc/mounts") ? readFileSync("/proc/mounts", "utf8").split("\n") : [];
  for (const mount of mounts) {
    const [, path = "", kind, options = ""] = mount.split(" ");
    if (kind === "cgroup" && options.split(",").includes("cpu")) return { path, limit: limitOfVersion1 };
    if (kind === "cgroup2" && givesCpu(path)) return { path, limit: limitOfVersion2 };
  }
  throw new BenchSkipped("no control groups for CPU time are mounted");
}

const limitOfVersion1: GroupRoot["limit"] = (quota) => [
  ["cpu.cfs_period_us", String(period)],
  ["cpu.cfs_quota_us", String(quota)],
];

const limitOfVersion2: GroupRoot["limit"] = (quota) => [["cpu.max", `${quota} ${period}`]];

function givesCpu(path: string): boolean {
  return readFileSync(join(path, "cgroup.subtree_control"), "utf8").trim().split(" ").includes("cpu");
}

/** Removes what a bench left that was ended in the middle; it is empty, as its processes ended too. */
function removeLeftOver(root: string): void {
  for (const name of readdirSync(root)) {
    const pid = ownGroup.exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    try {
      rmdirSync(join(root, name));
    } catch {
      // Something still runs in it.
    }
  }
}

async function removeGroup(group: string): Promise<void> {
  for (let left: number = removal.tries; ; left--) {
    try {
      rmdirSync(group);
      return;
    } catch (err) {
      if (left === 0) throw err;
    }
    await pause(removal.pause);
  }
}
