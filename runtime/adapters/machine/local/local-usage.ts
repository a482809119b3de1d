import { readdir, readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { FunctionUsage, Usage } from "../../../core/ports/usage.ts";

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** Processor time in clock ticks, that of its ended children included. */
  readonly ticks: number;
}

/** Milliseconds sampleInterval the two samples of a rate: the system counts in steps of 10. */
const sampleInterval = 500;
/** The unit in which Linux shows times to programs, regardless of the kernel's own clock. */
const ticksPerSecond = 100;

/** Reads from `/proc` what the processes of replicas use; undefined on systems without it. */
export class LocalUsage implements Usage {
  readonly #pidsOf: (ref: FunctionRef) => readonly number[];

  /** `pidsOf` returns the first process of each replica. */
  constructor(pidsOf: (ref: FunctionRef) => readonly number[]) {
    this.#pidsOf = pidsOf;
  }

  async of(ref: FunctionRef): Promise<FunctionUsage | undefined> {
    const roots = this.#pidsOf(ref);
    if (roots.length === 0) return undefined;
    const before = await treeOf(roots);
    const from = performance.now();
    await pause(sampleInterval);
    const after = await treeOf(roots);
    const seconds = (performance.now() - from) / 1_000;
    if (before.length === 0 || after.length === 0) return undefined;
    const ticks = Math.max(0, sum(after.map((entry) => entry.ticks)) - sum(before.map((entry) => entry.ticks)));
    const memory = await Promise.all(after.map(({ pid }) => memoryOf(pid)));
    return { cpu: Math.round((ticks / ticksPerSecond / seconds) * 1_000), totalMemoryBytes: sum(memory) };
  }
}

/** Living processes from `roots` down. */
async function treeOf(roots: readonly number[]): Promise<ProcessEntry[]> {
  const names = await readdir("/proc").catch(() => []);
  const read = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((name) => readEntry(Number(name))));
  const entries = read.filter((entry) => entry !== undefined);
  const byParent = Map.groupBy(entries, ({ parent }) => parent);
  const tree = entries.filter(({ pid }) => roots.includes(pid));
  for (const { pid } of tree) tree.push(...(byParent.get(pid) ?? []));
  return tree;
}

async function readEntry(pid: number): Promise<ProcessEntry | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => undefined);
  if (stat === undefined) return undefined;
  // The name in parentheses may contain anything; the fields after it contain no blanks.
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  return { pid, parent: fields[1] ?? 0, ticks: sum(fields.slice(11, 15)) };
}

/** Proportional share of its memory (Pss); where the system does not show that, all of its resident memory. */
async function memoryOf(pid: number): Promise<number> {
  const shared = await readFile(`/proc/${pid}/smaps_rollup`, "latin1").catch(() => "");
  const status = /^Pss:/m.test(shared) ? shared : await readFile(`/proc/${pid}/status`, "latin1").catch(() => "");
  const [, kibibytes = "0"] = /^(?:Pss|VmRSS):\s+(\d+) kB/m.exec(status) ?? [];
  return Number(kibibytes) * 1_024;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
