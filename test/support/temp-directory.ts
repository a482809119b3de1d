import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory that goes with all that is in it; also at the end of an `await using` block. */
export interface TempDirectory extends AsyncDisposable {
  /** Absolute, without symbolic links. */
  readonly path: string;
  remove(): Promise<void>;
}

/** Makes an empty directory, mode 0700, whose name shows what it is for. */
export async function tempDirectory(name = "test"): Promise<TempDirectory> {
  const path = await realpath(await mkdtemp(join(tmpdir(), `weir-${name}-`)));
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  return { path, remove, [Symbol.asyncDispose]: remove };
}
