import { headerLine, httpGrammar } from "../api/http-grammar.ts";

/** Bytes of one chunk's size with its extensions, as node's own limit (`security.md` H2). */
const chunkLineLimit = 16_384;
const trailerLimit = 65_536;
const emptyLine = "\r\n";
const lineFeed = 0x0a;
const { token } = httpGrammar;
const quoted = '"(?:[\\t\\x20\\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"';
const chunkLine = new RegExp(`^([0-9A-Fa-f]{1,16})(?:;${token}(?:=(?:${token}|${quoted}))?)*\\r\\n$`);
const trailerLine = new RegExp(`^${headerLine}$`);
/**
 * A trailer cannot say how its message is framed (RFC 9110 §6.5.1), and others, as node:http, take the message for
 * malformed.
 */
const framingTrailer = /^(?:content-length|transfer-encoding):/i;

type State = "size" | "data" | "data-end" | "trailers" | "over";

/** Reads one body in chunks (RFC 9112 §7.1) from whatever pieces it comes in; trailers are checked and dropped. */
export class ChunkedReader {
  readonly #onData: (piece: Buffer) => void;
  #state: State = "size";
  /** Of a line whose end did not come yet. */
  #held = "";
  #left = 0;
  #trailerBytes = 0;

  /** `onData` hears what is data; a piece is borrowed for the call. */
  constructor(onData: (piece: Buffer) => void) {
    this.#onData = onData;
  }

  /** Bytes of data that are still to come of the chunk that is being read. */
  get left(): number {
    return this.#left;
  }

  /** Whether all of it came. */
  get over(): boolean {
    return this.#state === "over";
  }

  /** Reads on in `bytes` from `at`. Gives where it stopped, behind the body if that is over, or what is wrong with it. */
  read(bytes: Buffer, at: number): number | string {
    let from = at;
    while (from < bytes.length && this.#state !== "over") {
      const read = this.#state === "data" ? this.#readData(bytes, from) : this.#readLine(bytes, from);
      if (typeof read === "string") return read;
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

  /** A chunk's size, the end of a chunk, or a trailer. */
  #readLine(bytes: Buffer, at: number): number | string {
    const found = bytes.indexOf(lineFeed, at);
    const end = found === -1 ? bytes.length : found + 1;
    const awaited = this.#awaited();
    const length = this.#held.length + end - at;
    if (this.#state === "data-end" && length > emptyLine.length) return `a line that is not ${awaited}`;
    if (length > this.#longestLine()) return `a line that is too long for ${awaited}`;
    const piece = bytes.toString("latin1", at, end);
    this.#held += piece;
    if (found === -1) return this.#mayGoOn() ? end : `a line that is not ${awaited}`;
    const line = this.#held;
    this.#held = "";
    return this.#take(line) ? end : `a line that is not ${awaited}`;
  }

  #take(line: string): boolean {
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
        if (line === emptyLine) this.#state = "over";
        this.#trailerBytes += line.length;
        return line === emptyLine || (trailerLine.test(line) && !framingTrailer.test(line));
    }
  }

  #longestLine(): number {
    return this.#state === "trailers" ? trailerLimit - this.#trailerBytes : chunkLineLimit;
  }

  /** Whether what is held of a line may still become one; what is long is judged at its end. */
  #mayGoOn(): boolean {
    const first = this.#held.charCodeAt(0);
    return this.#state === "size" ? isHexDigit(first) : this.#state === "trailers" || this.#held === "\r";
  }

  #awaited(): string {
    return this.#state === "size" ? "a chunk's size" : this.#state === "trailers" ? "a trailer" : "a chunk's end";
  }
}

function isHexDigit(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
}
