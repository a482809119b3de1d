import { readdir, readFile, readlink, stat } from "node:fs/promises";

/**
 * Kills every process that belongs to the replicas below `directory`: its environment names that directory, or it works
 * there as `user`. This finds processes that left their group, too; on systems without `/proc` it does nothing.
 */
export async function killProcessesOf(directory: string, user: number | undefined): Promise<void> {
  const entries = await readdir("/proc").catch(() => []);
  const pids = entries.filter((name) => /^\d+$/.test(name)).map(Number);
  await Promise.all(
    pids.map(async (pid) => {
      if (pid === process.pid || !(await belongs(pid, directory, user))) return;
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended in the meantime.
      }
    }),
  );
}

async function belongs(pid: number, directory: string, user: number | undefined): Promise<boolean> {
  try {
    if (user !== undefined && (await stat(`/proc/${pid}`)).uid !== user) return false;
    if (user !== undefined && within(await readlink(`/proc/${pid}/cwd`), directory)) return true;
    const variables = (await readFile(`/proc/${pid}/environ`, "latin1")).split("\0");
    return variables.some((variable) => within(variable.slice(variable.indexOf("=") + 1), directory));
  } catch {
    // It has ended, or is another user's.
    return false;
  }
}

function within(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}
