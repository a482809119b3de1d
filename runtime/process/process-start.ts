import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Index of the start time among the fields of `/proc/<pid>/stat` that follow the name. */
const startField = 19;

/**
 * When a process started, which distinguishes it from a later one with the same number: equal texts mean the same
 * process. Undefined when there is no such process.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  return process.platform === "linux" ? linuxStart(pid) : listedStart(pid);
}

async function linuxStart(pid: number): Promise<string | undefined> {
  try {
    const boot = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may contain anything, even spaces and parentheses; the fields after it do not.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : `${boot} ${fields[startField] ?? ""}`;
  } catch {
    return undefined;
  }
}

async function listedStart(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await run("ps", ["-o", "lstart=", "-p", String(pid)]);
    return stdout.trim() === "" ? undefined : stdout.trim();
  } catch {
    return undefined;
  }
}
