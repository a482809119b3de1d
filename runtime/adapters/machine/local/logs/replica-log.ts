import { mkdir, open, rename, rm, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import type { Readable } from "node:stream";

import { logFileSize, olderLog } from "./log-files.ts";
import { LogLines } from "./log-lines.ts";
import { LogClock } from "./log-time.ts";

/** One for all replicas of this process, so that lines of two of them that come in one millisecond have an order, too. */
const clock = new LogClock();
const newline = 10;
/** Bytes of a line's time and the blank behind it; a line that says nothing has these and its newline. */
const timeSize = "2026-01-31T12:00:00.000000000Z ".length;

/** Writes what one replica says, line by line with its time, into two files of 10 MiB. */
export class ReplicaLog {
  readonly #path: string;
  readonly #sources: Promise<void>[] = [];
  #file: FileHandle;
  #size = 0;
  #last: Promise<void> = Promise.resolve();

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /** The file is there when it resolves. */
  static async open(path: string): Promise<ReplicaLog> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return new ReplicaLog(path, await open(path, "a", 0o600));
  }

  /** Writes all lines of `source`, which is read no faster than they are written. */
  take(source: Readable): void {
    const lines = new LogLines();
    // A source that is destroyed ends without saying so.
    source.once("close", () => lines.end());
    const pieces: AsyncIterable<string[]> = source.pipe(lines);
    this.#sources.push(
      (async () => {
        for await (const piece of pieces) await this.#write(piece);
      })(),
    );
  }

  /** Resolves when all sources have ended and are written. A full disk loses lines, nothing else. */
  async close(): Promise<void> {
    await Promise.all(this.#sources);
    await this.#file.close();
  }

  /** As `endOfLog`, once it is closed. */
  end(size: number): Promise<string> {
    return endOfLog(this.#path, size);
  }

  /** For a log that is closed. */
  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
    await rm(olderLog(this.#path), { force: true });
  }

  #write(lines: readonly string[]): Promise<void> {
    this.#last = this.#last.then(() => this.#append(lines)).catch(() => {});
    return this.#last;
  }

  async #append(lines: readonly string[]): Promise<void> {
    const bytes = Buffer.from(lines.map((line) => `${clock.next()} ${line}\n`).join(""));
    if (this.#size + bytes.length > logFileSize) await this.#turn();
    await this.#file.appendFile(bytes);
    this.#size += bytes.length;
  }

  async #turn(): Promise<void> {
    await rename(this.#path, olderLog(this.#path));
    const full = this.#file;
    this.#file = await open(this.#path, "a", 0o600);
    this.#size = 0;
    await full.close();
  }
}

/** The end of a log that nobody writes, at most `size` bytes but for the times: whole lines, each with its time. */
export async function endOfLog(path: string, size: number): Promise<string> {
  const most = size * (1 + timeSize);
  const present = await endOfFile(path, most);
  const older = await endOfFile(olderLog(path), most - present.length);
  return lastLines(Buffer.concat([older, present]), size).toString();
}

/** The last of the lines whose texts fit into `size` bytes, or the last alone if it is longer. */
function lastLines(lines: Buffer, size: number): Buffer {
  let start = lines.length;
  for (let left = size; start > 0;) {
    const before = start < 2 ? 0 : lines.lastIndexOf(newline, start - 2) + 1;
    left -= start - before - timeSize;
    if (left < 0 && start < lines.length) break;
    start = before;
  }
  return lines.subarray(start);
}

/** The last lines of a file that fit into `size` bytes. */
async function endOfFile(path: string, size: number): Promise<Buffer> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return Buffer.alloc(0);
  try {
    const start = Math.max(0, (await file.stat()).size - size);
    // One byte more: a line begins behind the newline of the one before.
    const from = Math.max(0, start - 1);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size + 1), 0, size + 1, from);
    const bytes = buffer.subarray(0, bytesRead);
    return start === 0 ? bytes : bytes.subarray(bytes.indexOf(newline) + 1);
  } finally {
    await file.close();
  }
}
