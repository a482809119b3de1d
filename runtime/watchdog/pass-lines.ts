import { once } from "node:events";
import { Transform, type Readable, type TransformCallback, type Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";

/** Milliseconds without output after which the output of an ended process counts as complete. */
export const fledPatience = 500;
const newline = 10;
/** Bytes of a line that are held until its newline comes. */
const maxHeld = 65_536;

/**
 * Turns what one process writes into whole lines, each after `tag`; a last line without newline gets one. A long line
 * passes in parts.
 */
export class WholeLines extends Transform {
  readonly #tag: Buffer;
  readonly #held: Buffer[] = [];
  #size = 0;
  /** Part of a line was passed on. */
  #isBegun = false;

  constructor(tag: string) {
    super();
    this.#tag = Buffer.from(tag);
  }

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
    const lines = Buffer.concat(this.#held.splice(0));
    this.push(this.#tag.length === 0 ? lines : this.#tagged(lines));
    this.#size = 0;
    this.#isBegun = isBegun;
  }

  /** Each line that begins here with the tag before it. */
  #tagged(lines: Buffer): Buffer {
    const parts: Buffer[] = this.#isBegun ? [] : [this.#tag];
    let from = 0;
    for (let end = lines.indexOf(newline); end >= 0 && end < lines.length - 1; end = lines.indexOf(newline, from)) {
      parts.push(lines.subarray(from, end + 1), this.#tag);
      from = end + 1;
    }
    return Buffer.concat([...parts, lines.subarray(from)]);
  }
}

/**
 * Writes `source` to `log`, which several sources share, in whole lines, each after `tag`, and with back-pressure.
 * Resolves when the source has ended and all is written; what `log` does not take any more is dropped.
 */
export async function passLines(source: Readable, log: Writable, tag = ""): Promise<void> {
  const lines = new WholeLines(tag);
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
