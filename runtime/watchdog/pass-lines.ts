import { once } from "node:events";
import { Transform, type Readable, type TransformCallback, type Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";

/** Milliseconds without output after which the output of an ended process counts as complete. */
export const fledPatience = 500;
const newline = 10;
/** Bytes of a line that are held until its newline comes. */
const maxHeld = 65_536;

/**
 * Turns what one process writes into whole lines; a last line without newline gets one. A long line passes in parts.
 */
export class WholeLines extends Transform {
  readonly #held: Buffer[] = [];
  #size = 0;
  /** Part of a line was passed on. */
  #isBegun = false;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const end = chunk.lastIndexOf(newline) + 1;
    if (end > 0) {
      this.#hold(chunk.subarray(0, end));
      this.#pass(false);
    }
    if (end < chunk.length) this.#hold(chunk.subarray(end));
    if (this.#size > maxHeld) this.#pass(true);
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
 * Writes `source` to `log`, which several sources share, in whole lines and with back-pressure. Resolves when the
 * source has ended and all is written; what `log` does not take any more is dropped.
 */
export async function passLines(source: Readable, log: Writable): Promise<void> {
  const lines = new WholeLines();
  source.on("error", () => {});
  // A source that is destroyed emits no `end`.
  source.once("close", () => lines.end());
  for await (const chunk of source.pipe(lines)) {
    if (!log.write(chunk) && log.writable) await once(log, "drain").catch(() => {});
  }
}

/**
 * Resolves when the output of an ended process has `passed`; does not wait for processes it left that hold the output.
 */
export async function endOfWords(passed: Promise<unknown>): Promise<void> {
  const waited = new AbortController();
  await Promise.race([passed, pause(fledPatience, undefined, { signal: waited.signal }).catch(() => {})]);
  waited.abort();
}
