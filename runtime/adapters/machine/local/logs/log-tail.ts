import { open, stat, type FileHandle } from "node:fs/promises";

import { olderLog } from "./log-files.ts";

const chunkSize = 65_536;
const newline = 10;

/** Reads one replica's log, whole lines only, also across a rotation. */
export class LogTail {
  readonly #path: string;
  #current: LogFile | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** All lines so far or, without buffering them, the last `count`, the older file first. */
  async *backlog(count = Number.POSITIVE_INFINITY): AsyncGenerator<string> {
    this.#current = await LogFile.open(this.#path);
    const older = await LogFile.open(olderLog(this.#path));
    const inCurrent = count === Number.POSITIVE_INFINITY ? 0 : ((await this.#current?.count()) ?? 0);
    try {
      // The older file may be the one that was opened as the current one, before a rotation; that is read below.
      if (older !== undefined && older.inode !== this.#current?.inode && inCurrent < count) {
        await older.skip((await older.count()) - (count - inCurrent));
        yield* older.lines();
      }
    } finally {
      await older?.close();
    }
    await this.#current?.skip(inCurrent - count);
    yield* this.more();
  }

  /** Lines written since the last one read, also when the log has been removed in the meantime. */
  async *more(): AsyncGenerator<string> {
    for (;;) {
      this.#current ??= await LogFile.open(this.#path);
      if (this.#current === undefined) return;
      // Before reading, so that what is written between the two is read, too.
      const found = await stat(this.#path).catch(() => undefined);
      yield* this.#current.lines();
      if (found?.ino === this.#current.inode) return;
      await this.close();
      if (found === undefined) return;
    }
  }

  async close(): Promise<void> {
    await this.#current?.close();
    this.#current = undefined;
  }
}

class LogFile {
  readonly inode: number;
  readonly #file: FileHandle;
  #position = 0;
  #rest: Buffer = Buffer.alloc(0);

  private constructor(file: FileHandle, inode: number) {
    this.#file = file;
    this.inode = inode;
  }

  static async open(path: string): Promise<LogFile | undefined> {
    const file = await open(path, "r").catch((err: NodeJS.ErrnoException) => {
      if (err.code === "ENOENT") return undefined;
      throw err;
    });
    return file === undefined ? undefined : new LogFile(file, (await file.stat()).ino);
  }

  /** Number of whole lines in it now; must not be called after any was read. */
  async count(): Promise<number> {
    let count = 0;
    for await (const chunk of this.#chunks()) for (const _ of newlinesIn(chunk)) count += 1;
    return count;
  }

  /** Skips that many of the lines that are there. */
  async skip(lines: number): Promise<void> {
    let left = lines;
    if (left <= 0) return;
    for await (const chunk of this.#chunks()) {
      for (const at of newlinesIn(chunk)) {
        left -= 1;
        if (left > 0) continue;
        this.#position += at + 1;
        return;
      }
      this.#position += chunk.length;
    }
  }

  /** Whole lines from where the last read ended. */
  async *lines(): AsyncGenerator<string> {
    for await (const chunk of this.#chunks()) {
      this.#position += chunk.length;
      const bytes = Buffer.concat([this.#rest, chunk]);
      const end = bytes.lastIndexOf(newline) + 1;
      this.#rest = bytes.subarray(end);
      if (end > 0) yield* bytes.toString("utf8", 0, end - 1).split("\n");
    }
  }

  /** What is there from the current position on; does not move the position. */
  async *#chunks(): AsyncGenerator<Buffer> {
    for (let at = this.#position; ;) {
      const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(chunkSize), 0, chunkSize, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

function* newlinesIn(chunk: Buffer): Generator<number> {
  for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) yield at;
}
