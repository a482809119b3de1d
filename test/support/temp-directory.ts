import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory that is removed with its content, also at the end of an `await using` block. */
export interface TempDirectory extends AsyncDisposable {
  /** Absolute, without symbolic links. */
  readonly path: string;
  remove(): Promise<void>;
}

/** Creates an empty directory of mode 0700; `name` is a part of its name. */
export async function tempDirectory(name = "test"): Promise<TempDirectory> {
  const path = await realpath(await mkdtemp(join(tmpdir(), `weir-${name}-`)));
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  return { path, remove, [Symbol.asyncDispose]: remove };
}
