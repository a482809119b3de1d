import { chmod, lchown, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Files at a time. */
const portion = 64;

/**
 * Takes a snapshot away from `user`, who wrote in it: directories 0755, files without write bits, all of it this
 * process's. From above, so that the user can no longer replace what is next by a link; what is not the user's, such
 * as a hard link to a file of somebody else, stays as it is. Undefined = this process's user.
 */
export async function sealSnapshot(directory: string, user: number | undefined): Promise<void> {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const seal = async (path: string): Promise<void> => {
    const found = await lstat(path);
    if (user !== undefined) {
      if (found.uid !== user) return;
      await lchown(path, uid, gid);
    }
    if (found.isFile()) await chmod(path, (found.mode & 0o111) === 0 ? 0o444 : 0o555);
    if (!found.isDirectory()) return;
    await chmod(path, 0o755);
    const below = await readdir(path, { withFileTypes: true });
    const [directories, others] = [
      below.filter((each) => each.isDirectory()),
      below.filter((each) => !each.isDirectory()),
    ];
    for (let at = 0; at < others.length; at += portion)
      await Promise.all(others.slice(at, at + portion).map(({ name }) => seal(join(path, name))));
    for (const { name } of directories) await seal(join(path, name));
  };
  await seal(directory);
}
