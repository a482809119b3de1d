import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { BenchSkipped } from "./bench-row.ts";

/** Microseconds of a quota period; short, so a throttled call waits only briefly for the next one. */
const period = 20_000;
const ownGroup = /^weir-bench-(\d+)-/;
/** A group stays busy for a moment after its last process has ended. */
const removal = { tries: 50, pause: 20 } as const;
let opened = 0;

/** A control group that limits its processes together to a share of one core. */
export interface CpuBound {
  /** The command line that runs `command` in the group from its first instruction on. */
  within(command: readonly string[]): readonly string[];
  /** Removes the group; its processes must have ended. */
  close(): Promise<void>;
}

/**
 * Creates a control group with `share` of one core.
 * @throws BenchSkipped with the reason when that is not possible
 */
export function openCpuBound(share: number): CpuBound {
  const root = findRoot();
  removeOrphans(root.path);
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

/** Where groups are created, and the files that limit one to `quota` microseconds per period. */
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

/** Removes the groups of benches that were killed; they are empty, as their processes ended too. */
function removeOrphans(root: string): void {
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
