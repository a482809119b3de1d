import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";

export interface ArchiveOptions {
  /** What of the directory goes in; all when absent. */
  readonly names?: readonly string[];
  /** Rights, as chmod(1) takes them. */
  readonly mode?: string;
}

// Some files, as what Node.js keeps compiled, are for their maker alone where they lie.
const readable = "a+rX";
const alwaysTheSame = ["--format=gnu", "--sort=name", "--mtime=@0", "--numeric-owner", "--owner=0", "--group=0"];

/**
 * What lies below `directory` as a tar archive of root's files that everybody can read; the same files are the same
 * bytes. The stream fails when tar does.
 */
export function archive(directory: string, options: ArchiveOptions = {}): Readable {
  const args = ["--create", "--file=-", `--directory=${directory}`, ...alwaysTheSame];
  return Readable.from(tar([...args, `--mode=${options.mode ?? readable}`, "--", ...(options.names ?? ["."])]), {
    objectMode: false,
  });
}

async function* tar(args: readonly string[]): AsyncGenerator<Buffer> {
  const child = spawn("tar", args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  // Heard of below, also when nobody reads so far.
  ended.catch(() => {});
  try {
    yield* child.stdout as AsyncIterable<Buffer>;
    const [code] = (await ended) as [number | null];
    if (code !== 0) throw new Error(`Cannot write an archive: tar ended with ${code ?? "a signal"}`);
  } finally {
    child.kill();
  }
}
