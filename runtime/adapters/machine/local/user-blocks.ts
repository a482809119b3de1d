import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** User ids that nothing else on this machine uses. */
export interface UserBlock {
  readonly first: number;
  readonly count: number;
  release(): Promise<void>;
}

/** Takes a lock file for this process; the lock of a dead process is taken over. */
export type HoldLock = (
  file: string,
) => Promise<{ readonly release: () => Promise<void> } | { readonly heldBy: number }>;

/** The range that systems leave to dynamic users, which is divided into blocks. */
const range = { first: 61_184, last: 65_519 } as const;
const size = 256;

/** Common to every Weir of this machine, regardless of its data directory. */
export const userBlockDirectory = "/run/weir/users";

/**
 * A block of users for functions, locked below `directory` until it is released; undefined when all are taken. A block
 * with running processes is not free either: a Weir that was killed may have left them.
 */
export async function takeUserBlock(
  holdLock: HoldLock,
  directory: string = userBlockDirectory,
  usersInUse: () => Promise<readonly number[]> = usersOfProcesses,
): Promise<UserBlock | undefined> {
  await mkdir(directory, { recursive: true, mode: 0o755 });
  for (let first: number = range.first; first <= range.last; first += size) {
    const held = await holdLock(join(directory, String(first)));
    if ("heldBy" in held) continue;
    const count = Math.min(size, range.last - first + 1);
    const isInUse = (await usersInUse()).some((user) => user >= first && user < first + count);
    if (!isInUse) return { first, count, release: held.release };
    await held.release();
  }
  return undefined;
}

/** The users that processes of this machine run as. */
async function usersOfProcesses(): Promise<readonly number[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  return await Promise.all(
    pids.map((pid) =>
      stat(`/proc/${pid}`).then(
        ({ uid }) => uid,
        () => -1,
      ),
    ),
  );
}
