import { readdirSync, readFileSync } from "node:fs";

/** A process that cannot be confused with a later one of the same id. */
export interface KnownProcess {
  readonly pid: number;
  readonly parent: number;
  /** Clock ticks from boot to its start. */
  readonly startedAt: string;
  readonly command: string;
}

/** Every living process, without zombies; empty where the system has no `/proc`. */
export function livingProcesses(): KnownProcess[] {
  let entries: string[];
  try {
    entries = readdirSync("/proc");
  } catch {
    return [];
  }
  return entries.filter((name) => /^\d+$/.test(name)).flatMap((name) => readProcess(Number(name)) ?? []);
}

/** The living processes below `root`, children before grandchildren, without `root` itself. */
export function descendants(root: number): KnownProcess[] {
  const byParent = Map.groupBy(livingProcesses(), (process) => process.parent);
  const found: KnownProcess[] = [];
  const open = [root];
  for (let pid = open.shift(); pid !== undefined; pid = open.shift()) {
    const children = byParent.get(pid) ?? [];
    found.push(...children);
    open.push(...children.map((child) => child.pid));
  }
  return found;
}

/** Whether the same process still lives. */
export function isAlive(known: KnownProcess): boolean {
  return readProcess(known.pid)?.startedAt === known.startedAt;
}

/** Sends SIGKILL to the process, if it is still the same. */
export function endProcess(known: KnownProcess): void {
  if (!isAlive(known)) return;
  try {
    process.kill(known.pid, "SIGKILL");
  } catch {
    // It ended by itself meanwhile.
  }
}

function readProcess(pid: number): KnownProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    // The name in parentheses may contain anything; the fields after it are state, parent, …, start time (20th).
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, parent] = fields;
    const startedAt = fields[19];
    if (state === "Z" || state === "X" || parent === undefined || startedAt === undefined) return undefined;
    return { pid, parent: Number(parent), startedAt, command };
  } catch {
    return undefined;
  }
}
