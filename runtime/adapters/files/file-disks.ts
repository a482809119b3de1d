import { statfs } from "node:fs/promises";
import { resolve } from "node:path";

import type { Disks, DiskSpace } from "../../core/ports/disks.ts";

/** The disks behind some directories, by what is kept in each. */
export class FileDisks implements Disks {
  readonly #directories: Readonly<Record<string, string>>;

  constructor(directories: Readonly<Record<string, string>>) {
    this.#directories = directories;
  }

  read(): Promise<readonly DiskSpace[]> {
    return Promise.all(Object.entries(this.#directories).map(([name, directory]) => spaceOf(name, directory)));
  }
}

async function spaceOf(name: string, directory: string): Promise<DiskSpace> {
  const { bavail, bfree, blocks, bsize } = await statfs(directory);
  // Blocks that only root may use belong to nobody here.
  const usable = blocks - bfree + bavail;
  return { name, directory: resolve(directory), free: bavail * bsize, total: usable * bsize };
}
