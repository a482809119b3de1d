import { Transform, type TransformCallback } from "node:stream";

import { cutMark, longestLine } from "../../../replica-logs/longest-line.ts";

const newline = 10;

/**
 * Splits what a process writes into lines, without their newline: one array per chunk. Lines that are too long are
 * truncated and marked; a last line without newline counts.
 */
export class LogLines extends Transform {
  #parts: Buffer[] = [];
  #length = 0;

  constructor() {
    super({ readableObjectMode: true });
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const lines: string[] = [];
    let begin = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, begin)) {
      this.#add(chunk.subarray(begin, end));
      lines.push(this.#takeLine());
      begin = end + 1;
    }
    this.#add(chunk.subarray(begin));
    if (lines.length > 0) this.push(lines);
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.#length > 0) this.push([this.#takeLine()]);
    done();
  }

  #add(part: Buffer): void {
    const room = longestLine - Math.min(this.#length, longestLine);
    if (room > 0 && part.length > 0) this.#parts.push(part.subarray(0, room));
    this.#length += part.length;
  }

  #takeLine(): string {
    const text = Buffer.concat(this.#parts).toString("utf8");
    const line = this.#length > longestLine ? text + cutMark : text;
    this.#parts = [];
    this.#length = 0;
    return line;
  }
}
