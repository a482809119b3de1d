import { mkdir, open, rename, rm, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import type { Readable } from "node:stream";

import type { OutputName } from "../../../../api/schemas/log-record.ts";
import { formatLoggedLine } from "../../../replica-logs/logged-line.ts";
import { logFileSize, olderLog } from "./log-files.ts";
import { LogLines } from "./log-lines.ts";
import { LogClock } from "./log-time.ts";

/** Shared by all replicas of this process, so that lines of two replicas in one millisecond have an order, too. */
const clock = new LogClock();
const newline = 10;
/** Bytes of a line before its text; an empty line has these and its newline. */
const timeSize = "2026-01-31T12:00:00.000000000Z1 ".length;

/** Writes the output of one replica, each line with a timestamp, to two files of 10 MiB. */
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

  /** The file exists when this resolves. */
  static async open(path: string): Promise<ReplicaLog> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return new ReplicaLog(path, await open(path, "a", 0o600));
  }

  /** Writes all lines of `source`, an output of the replica, which is read no faster than they are written. */
  take(source: Readable, stream: OutputName): void {
    const lines = new LogLines();
    // A source that is destroyed emits no `end`.
    source.once("close", () => lines.end());
    const batches: AsyncIterable<string[]> = source.pipe(lines);
    this.#sources.push(
      (async () => {
        for await (const batch of batches) await this.#write(batch, stream);
      })(),
    );
  }

  /** Resolves when all sources have ended and are written. A full disk costs lines and nothing else. */
  async close(): Promise<void> {
    await Promise.all(this.#sources);
    await this.#file.close();
  }

  /** As `endOfLog`, for a log that is closed. */
  end(size: number): Promise<string> {
    return endOfLog(this.#path, size);
  }

  /** Deletes the files of a log that is closed. */
  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
    await rm(olderLog(this.#path), { force: true });
  }

  #write(lines: readonly string[], stream: OutputName): Promise<void> {
    this.#last = this.#last.then(() => this.#append(lines, stream)).catch(() => {});
    return this.#last;
  }

  async #append(lines: readonly string[], stream: OutputName): Promise<void> {
    const written = lines.map((text) => formatLoggedLine({ timestamp: clock.next(), text, stream }));
    const bytes = Buffer.from(written.join(""));
    if (this.#size + bytes.length > logFileSize) await this.#rotate();
    await this.#file.appendFile(bytes);
    this.#size += bytes.length;
  }

  async #rotate(): Promise<void> {
    await rename(this.#path, olderLog(this.#path));
    const full = this.#file;
    this.#file = await open(this.#path, "a", 0o600);
    this.#size = 0;
    await full.close();
  }
}

/**
 * The end of a log that is no longer written, at most `size` bytes without timestamps: whole lines, each with its own.
 */
export async function endOfLog(path: string, size: number): Promise<string> {
  const maxBytes = size * (1 + timeSize);
  const current = await endOfFile(path, maxBytes);
  const older = await endOfFile(olderLog(path), maxBytes - current.length);
  return lastLines(Buffer.concat([older, current]), size).toString();
}

/** The last of the lines whose texts fit into `size` bytes, or only the last one if it is longer. */
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
    // One byte more: a line begins after the newline of the one before.
    const from = Math.max(0, start - 1);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size + 1), 0, size + 1, from);
    const bytes = buffer.subarray(0, bytesRead);
    return start === 0 ? bytes : bytes.subarray(bytes.indexOf(newline) + 1);
  } finally {
    await file.close();
  }
}
