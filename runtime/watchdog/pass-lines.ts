import { once } from "node:events";
import { Transform, type Readable, type TransformCallback, type Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";

/** Milliseconds without output after which a process that ended has said all. */
export const fledPatience = 500;
const newline = 10;
/** Bytes of a line that are held until its newline comes. */
const most = 65_536;

/** Turns what one process writes into whole lines; a last one without newline gets it. Of a longer one what came passes. */
export class WholeLines extends Transform {
  readonly #held: Buffer[] = [];
  #size = 0;
  /** Part of a line has passed. */
  #isBegun = false;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const end = chunk.lastIndexOf(newline) + 1;
    if (end > 0) {
      this.#hold(chunk.subarray(0, end));
      this.#pass(false);
    }
    if (end < chunk.length) this.#hold(chunk.subarray(end));
    if (this.#size > most) this.#pass(true);
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.#size > 0 || this.#isBegun) {
      this.#hold(Buffer.of(newline));
      this.#pass(false);
    }
    done();
  }

  #hold(part: Buffer): void {
    this.#held.push(part);
    this.#size += part.length;
  }

  #pass(isBegun: boolean): void {
    this.push(Buffer.concat(this.#held.splice(0)));
    this.#size = 0;
    this.#isBegun = isBegun;
  }
}

/**
 * Writes what `source` says to `log`, which several share, in whole lines and no faster than they are taken. Resolves when
 * it has ended and all is written; what nobody reads any more is dropped.
 */
export async function passLines(source: Readable, log: Writable): Promise<void> {
  const lines = new WholeLines();
  source.on("error", () => {});
  // A source that is destroyed ends without saying so.
  source.once("close", () => lines.end());
  for await (const piece of source.pipe(lines)) {
    if (!log.write(piece) && log.writable) await once(log, "drain").catch(() => {});
  }
}

/** Resolves when all was `said` by a process that has ended; what it left running may hold its output, and is not waited for. */
export async function endOfWords(said: Promise<unknown>): Promise<void> {
  const waited = new AbortController();
  await Promise.race([said, pause(fledPatience, undefined, { signal: waited.signal }).catch(() => {})]);
  waited.abort();
}
