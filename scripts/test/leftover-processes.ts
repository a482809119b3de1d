import { execFile } from "node:child_process";
import { readdir, readFile, readlink } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

/** A process that outlived the tests. */
export interface Leftover {
  readonly pid: number;
  readonly command: string;
}

const pollInterval = 100;

/**
 * Processes that use `directory` (the tests' own temporary one): it is their working directory, or named in their
 * command line or environment. Polls until there are none, or `within` milliseconds have passed.
 */
export async function leftoverProcesses(directory: string, within: number): Promise<readonly Leftover[]> {
  const deadline = performance.now() + within;
  for (;;) {
    const found = process.platform === "linux" ? await fromProc(directory) : await fromPs(directory);
    if (found.length === 0 || performance.now() > deadline) return found;
    await pause(pollInterval);
  }
}

/** Ends what the tests left running. */
export function endLeftovers(leftovers: readonly Leftover[]): void {
  for (const { pid } of leftovers) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended in the meantime.
    }
  }
}

async function fromProc(directory: string): Promise<Leftover[]> {
  const pids = (await readdir("/proc")).map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid);
  const found = await Promise.all(pids.map((pid) => inspect(pid, directory)));
  return found.filter((leftover) => leftover !== undefined);
}

async function inspect(pid: number, directory: string): Promise<Leftover | undefined> {
  const read = (name: string): Promise<string> => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "");
  const command = (await read("cmdline")).replaceAll("\0", " ").trim();
  // A zombie or a kernel thread.
  if (command === "") return undefined;
  const place = await readlink(`/proc/${pid}/cwd`).catch(() => "");
  const about = [command, place, await read("environ")];
  return about.some((text) => text.includes(directory)) ? { pid, command } : undefined;
}

function fromPs(directory: string): Promise<Leftover[]> {
  return new Promise((resolve) => {
    execFile("ps", ["-axww", "-o", "pid=,command="], (_err, stdout) => {
      const lines = stdout.split("\n").filter((line) => line.includes(directory));
      resolve(
        lines.map((line) => {
          const [, pid = "0", command = ""] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
          return { pid: Number(pid), command };
        }),
      );
    });
  });
}
