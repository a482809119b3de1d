import { headerLine, httpGrammar } from "../api/http-grammar.ts";
import { publicly, type PublicSentence } from "../api/public-sentence.ts";
import { readHeaderLines } from "./header-lines.ts";

/** Most bytes of a chunk's size with its extensions; the same as Node's limit (`security.md` H2). */
const chunkLineLimit = 16_384;
const trailerLimit = 65_536;
const emptyLine = "\r\n";
const lineFeed = 0x0a;
const { token } = httpGrammar;
const quoted = '"(?:[\\t\\x20\\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"';
const chunkLine = new RegExp(`^([0-9A-Fa-f]{1,16})(?:;${token}(?:=(?:${token}|${quoted}))?)*\\r\\n$`);
const trailerLine = new RegExp(`^${headerLine}$`);
/**
 * A trailer must not frame its message (RFC 9110 §6.5.1); other parsers, such as node:http, treat such a message as
 * malformed.
 */
const framingTrailer = /^(?:content-length|transfer-encoding):/i;

type State = "size" | "data" | "data-end" | "trailers" | "over";

/** Decodes one chunked body (RFC 9112 §7.1), however its bytes are split. */
export class ChunkedReader {
  /** Flat, as sent; complete once the body is over. */
  readonly trailers: string[] = [];
  readonly #onData: (chunk: Buffer) => void;
  #state: State = "size";
  /** The part of a line that arrived before its end. */
  #partialLine = "";
  #left = 0;
  #trailerBytes = 0;

  /** `onData` receives the data; each chunk is borrowed for the call. */
  constructor(onData: (chunk: Buffer) => void) {
    this.#onData = onData;
  }

  /** Bytes of data still to come of the current transfer chunk. */
  get left(): number {
    return this.#left;
  }

  /** Whether the whole body was read. */
  get over(): boolean {
    return this.#state === "over";
  }

  /** Reads `bytes` from `at`. Returns the offset where it stopped (behind the body once that is over), or the fault. */
  read(bytes: Buffer, at: number): number | PublicSentence {
    let from = at;
    while (from < bytes.length && this.#state !== "over") {
      const read = this.#state === "data" ? this.#readData(bytes, from) : this.#readLine(bytes, from);
      if (typeof read !== "number") return read;
      from = read;
    }
    return from;
  }

  #readData(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#state = "data-end";
    this.#onData(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    return end;
  }

  /** Reads a chunk's size, the end of a chunk, or a trailer. */
  #readLine(bytes: Buffer, at: number): number | PublicSentence {
    const found = bytes.indexOf(lineFeed, at);
    const end = found === -1 ? bytes.length : found + 1;
    const expected = this.#expectedName();
    const length = this.#partialLine.length + end - at;
    if (this.#state === "data-end" && length > emptyLine.length) return publicly`a line that is not ${expected}`;
    if (length > this.#longestLine()) return publicly`a line that is too long for ${expected}`;
    const text = bytes.toString("latin1", at, end);
    this.#partialLine += text;
    if (found === -1) return this.#mayContinue() ? end : publicly`a line that is not ${expected}`;
    const line = this.#partialLine;
    this.#partialLine = "";
    return this.#acceptLine(line) ? end : publicly`a line that is not ${expected}`;
  }

  #acceptLine(line: string): boolean {
    switch (this.#state) {
      case "size": {
        const size = Number.parseInt(chunkLine.exec(line)?.[1] ?? "", 16);
        if (!Number.isSafeInteger(size)) return false;
        this.#left = size;
        this.#state = size === 0 ? "trailers" : "data";
        return true;
      }
      case "data-end":
        this.#state = "size";
        return line === emptyLine;
      default:
        this.#trailerBytes += line.length;
        if (line === emptyLine) this.#state = "over";
        else if (!trailerLine.test(line) || framingTrailer.test(line)) return false;
        else readHeaderLines(line, 0, this.trailers);
        return true;
    }
  }

  #longestLine(): number {
    return this.#state === "trailers" ? trailerLimit - this.#trailerBytes : chunkLineLimit;
  }

  /** Whether the partial line may still become a valid one; sizes and trailers are checked in full at their end. */
  #mayContinue(): boolean {
    const first = this.#partialLine.charCodeAt(0);
    return this.#state === "size" ? isHexDigit(first) : this.#state === "trailers" || this.#partialLine === "\r";
  }

  #expectedName(): PublicSentence {
    return this.#state === "size"
      ? publicly`a chunk's size`
      : this.#state === "trailers"
        ? publicly`a trailer`
        : publicly`a chunk's end`;
  }
}

function isHexDigit(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
}
