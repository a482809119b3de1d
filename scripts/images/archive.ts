import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";

export interface ArchiveOptions {
  /** Entries of the directory to include; all when absent. */
  readonly names?: readonly string[];
  /** Rights, as chmod(1) takes them. */
  readonly mode?: string;
}

// Some files, such as Node.js's compile cache, are readable only by their owner in the directory.
const readable = "a+rX";
const reproducible = ["--format=gnu", "--sort=name", "--mtime=@0", "--numeric-owner", "--owner=0", "--group=0"];

/**
 * The content of `directory` as a tar archive of files that root owns and everybody can read; the same files give the
 * same bytes. The stream fails when tar does.
 */
export function archive(directory: string, options: ArchiveOptions = {}): Readable {
  const args = ["--create", "--file=-", `--directory=${directory}`, ...reproducible];
  return Readable.from(tar([...args, `--mode=${options.mode ?? readable}`, "--", ...(options.names ?? ["."])]), {
    objectMode: false,
  });
}

async function* tar(args: readonly string[]): AsyncGenerator<Buffer> {
  const child = spawn("tar", args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  // Handled below; also caught here in case the stream is not read that far.
  ended.catch(() => {});
  try {
    yield* child.stdout as AsyncIterable<Buffer>;
    const [code] = (await ended) as [number | null];
    if (code !== 0) throw new Error(`Cannot write an archive: tar ended with ${code ?? "a signal"}`);
  } finally {
    child.kill();
  }
}
