import { spawnSync } from "node:child_process";
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { tempDirectory } from "./temp-directory.ts";

/** A separate file system in memory that can really be full. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  /** Fills all space but `left` bytes. */
  fill(left: number): void;
  /** Frees that space. */
  empty(): void;
}

/** Mounts one of `size` bytes; undefined if this user may not mount. */
export async function openSmallDisk(size: number): Promise<SmallDisk | undefined> {
  const directory = await tempDirectory("disk");
  const { path } = directory;
  if (spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=0700`, "tmpfs", path]).status !== 0) {
    await directory.remove();
    return undefined;
  }
  const filler = join(path, "filler");
  return {
    path,
    fill: (left) => {
      const { bavail, bsize } = statfsSync(path);
      try {
        writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - left)));
      } catch (err) {
        // Someone else took some of it meanwhile: it is full all the same.
        if (!(err instanceof Error && "code" in err && err.code === "ENOSPC")) throw err;
      }
    },
    empty: () => rmSync(filler, { force: true }),
    [Symbol.asyncDispose]: async () => {
      spawnSync("umount", ["-l", path]);
      await directory.remove();
    },
  };
}
