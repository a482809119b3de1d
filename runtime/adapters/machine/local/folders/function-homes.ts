import { chown, mkdir } from "node:fs/promises";
import { join } from "node:path";

import { formatRef, type FunctionRef } from "../../../../core/functions/function-ref.ts";
import { removeTree } from "../remove-tree.ts";

/** Home directories of functions: caches of npm, pip and go stay there between two preparations. */
export class FunctionHomes {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The directory, which exists and belongs to `user`; undefined = the user of this process. */
  async of(ref: FunctionRef, user: number | undefined): Promise<string> {
    const path = join(this.#directory, formatRef(ref));
    await mkdir(path, { recursive: true, mode: 0o700 });
    if (user !== undefined) await chown(path, user, user);
    return path;
  }

  forget(ref: FunctionRef): Promise<void> {
    return removeTree(join(this.#directory, formatRef(ref)));
  }
}
