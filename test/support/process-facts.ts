import { readdirSync, readFileSync } from "node:fs";

/** Resident memory of a process of this machine, bytes. */
export function residentBytes(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  if (kibibytes === undefined) throw new Error(`Cannot read the memory of process ${pid}: it is not said`);
  return Number(kibibytes) * 1_024;
}

/** Peak resident memory of a process of this machine, bytes. */
export function mostResidentBytes(pid: number): number {
  const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  if (kibibytes === undefined) throw new Error(`Cannot read the memory of process ${pid}: it is not said`);
  return Number(kibibytes) * 1_024;
}

/** Resident memory of processes of one program together, bytes: what they share is counted once. */
export function residentTogether(pids: readonly number[]): number {
  let [own, mostShared] = [0, 0];
  for (const pid of pids) {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    const kibibytes = (kind: string): number =>
      [...text.matchAll(new RegExp(`^${kind}_(?:Clean|Dirty): +(\\d+) kB$`, "gm"))].reduce(
        (sum, [, each]) => sum + Number(each),
        0,
      );
    own += kibibytes("Private");
    mostShared = Math.max(mostShared, kibibytes("Shared"));
  }
  return (own + mostShared) * 1_024;
}

/** Number of files and sockets that a process of this machine has open. */
export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Milliseconds that the main thread of a process ran, and that it waited for a processor. */
export function processorTime(pid: number): { readonly ran: number; readonly waited: number } {
  const [ran, waited] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ").map(Number);
  return { ran: (ran ?? 0) / 1_000_000, waited: (waited ?? 0) / 1_000_000 };
}

/** Clock ticks a second in `/proc`, on every Linux of this time. */
const ticks = 100;

/** Seconds that all threads of a process ran, in programs and for them in the kernel. */
export function processorSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name in parentheses may contain anything; the 12th and 13th field after it are the two times.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticks;
}

/** Whether SIGSTOP has reached every thread of a process of this machine; true on systems other than Linux. */
export function isStopped(pid: number): boolean {
  if (process.platform !== "linux") return true;
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    const facts = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
    return facts.charAt(facts.lastIndexOf(")") + 2) === "T";
  });
}
