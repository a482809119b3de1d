import { chmod, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Removes a directory with all in it, also directories without write bits, as caches of programs have them. */
export async function removeTree(path: string): Promise<void> {
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true });
  await remove().catch(async (err: unknown) => {
    // Root may remove it in any case; for others the owner must be able to write to each directory.
    if (!(err instanceof Error && "code" in err && (err.code === "EACCES" || err.code === "EPERM"))) throw err;
    await openDirectories(path);
    await remove();
  });
}

async function openDirectories(path: string): Promise<void> {
  await chmod(path, 0o700);
  for (const entry of await readdir(path, { withFileTypes: true }))
    if (entry.isDirectory()) await openDirectories(join(path, entry.name));
}
