import { readdirSync, readFileSync } from "node:fs";

/** A process that cannot be confused with a later one of the same id. */
export interface KnownProcess {
  readonly pid: number;
  readonly parent: number;
  /** Clock ticks from boot to its start. */
  readonly startedAt: string;
  readonly command: string;
}

type ProcessState = Omit<KnownProcess, "command">;

/** Every living process, without zombies; empty where the system has no `/proc`. */
export function livingProcesses(): KnownProcess[] {
  return livingStates().flatMap((state) => withCommand(state) ?? []);
}

/** The living process of this id, if there is one. */
export function livingProcess(pid: number): KnownProcess | undefined {
  const state = readState(pid);
  return state && withCommand(state);
}

function livingStates(): ProcessState[] {
  let entries: string[];
  try {
    entries = readdirSync("/proc");
  } catch {
    return [];
  }
  return entries.filter((name) => /^\d+$/.test(name)).flatMap((name) => readState(Number(name)) ?? []);
}

/**
 * The living processes below `root`, children before grandchildren, without `root` itself. Tests look several times a
 * second: only the commands of these are read.
 */
export function descendants(root: number): KnownProcess[] {
  const byParent = Map.groupBy(livingStates(), (process) => process.parent);
  const found: KnownProcess[] = [];
  const open = [root];
  for (let pid = open.shift(); pid !== undefined; pid = open.shift()) {
    const children = byParent.get(pid) ?? [];
    found.push(...children.flatMap((child) => withCommand(child) ?? []));
    open.push(...children.map((child) => child.pid));
  }
  return found;
}

/** Whether the same process still lives. */
export function isAlive(known: KnownProcess): boolean {
  return readState(known.pid)?.startedAt === known.startedAt;
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

function readState(pid: number): ProcessState | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name in parentheses may contain anything; the fields after it are state, parent, …, start time (20th).
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 20);
    const [state, parent] = fields;
    const startedAt = fields[19];
    if (state === "Z" || state === "X" || parent === undefined || startedAt === undefined) return undefined;
    return { pid, parent: Number(parent), startedAt };
  } catch {
    return undefined;
  }
}

function withCommand(state: ProcessState): KnownProcess | undefined {
  try {
    const command = readFileSync(`/proc/${state.pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return { ...state, command };
  } catch {
    return undefined;
  }
}
