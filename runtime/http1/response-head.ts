import { connectionOptions } from "../api/http-grammar.ts";
import { codingFault, lengthFault } from "./framing-fault.ts";
import { contentLengthOf, isChunkedCoding } from "./framing-rules.ts";
import type { HeadKind, HeadText } from "./head-pieces.ts";
import { readHeaderLines } from "./header-lines.ts";

const lineEnd = "\r\n";
const statusLine = /HTTP\/1\.([01]) (\d{3})(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/y;
const statusLineStart = "HTTP/1.";
const noBody = { content: 204, change: 304 } as const;
const keepAliveTimeout = /timeout=(\d+)/i;
/** Interim answers come before another head. */
const firstFinal = 200;

/** The head of one answer, read line by line, and how the body behind it is framed (`security.md` H9). */
export class ResponseHead implements HeadText<string> {
  /** 0 until the status line was read. */
  status = 0;
  /** Flat, as sent. */
  readonly headers: string[] = [];
  /** Bytes of the body; undefined when the head names none. */
  length: number | undefined;
  chunked = false;
  /** Whether the connection may go on after this answer, as far as the head says. */
  persistent = false;
  /** Milliseconds that the replica keeps an idle connection, if it says so. */
  keepAlive: number | undefined;
  /** The protocol it changes to, in lower case; only with the `Connection` that belongs to it. */
  upgrade: string | undefined;
  #isOld = false;

  /**
   * Reads `text`, which ends with a line's end. Gives where in it the body begins, -1 while the head goes on, or what is
   * wrong with it.
   */
  read(text: string): number | string {
    let at = 0;
    if (this.status === 0) {
      statusLine.lastIndex = 0;
      const match = statusLine.exec(text);
      if (match === null) return "a status line that is none";
      this.#isOld = match[1] === "0";
      this.status = Number(match[2]);
      // A status of 000 must not look like none.
      if (this.status === 0) return "status 0";
      at = statusLine.lastIndex;
    }
    at = readHeaderLines(text, at, this.headers);
    if (at === text.length) return -1;
    return text.startsWith(lineEnd, at) ? (this.#judge() ?? at + lineEnd.length) : "a header that is none";
  }

  /** Whether its status allows no body. */
  get bodiless(): boolean {
    return this.status === noBody.content || this.status === noBody.change;
  }

  get memorable(): boolean {
    return this.status >= firstFinal;
  }

  /** What is wrong with the framing; sets the facts about it. */
  #judge(): string | undefined {
    const { headers } = this;
    let closes = false;
    let keeps = false;
    let upgrades = false;
    let fault: string | undefined;
    for (let index = 0; index + 1 < headers.length; index += 2) {
      const name = headers[index] ?? "";
      // Most names are told apart by their length alone.
      switch (name.length) {
        case 7:
          if (name.toLowerCase() === "upgrade") this.upgrade = headers[index + 1]?.toLowerCase();
          break;
        case 10: {
          const lowerName = name.toLowerCase();
          const value = headers[index + 1] ?? "";
          if (value === "keep-alive" && lowerName === "connection") {
            keeps = true;
          } else if (lowerName === "connection") {
            const options = connectionOptions(value);
            closes ||= options.includes("close");
            keeps ||= options.includes("keep-alive");
            upgrades ||= options.includes("upgrade");
          } else if (lowerName === "keep-alive") {
            const seconds = keepAliveTimeout.exec(value)?.[1];
            if (seconds !== undefined) this.keepAlive = Number(seconds) * 1_000;
          }
          break;
        }
        case 14:
          if (name.toLowerCase() === "content-length") {
            const value = headers[index + 1] ?? "";
            if (this.length !== undefined) return "two lengths";
            this.length = contentLengthOf(value);
            if (this.length === undefined) return lengthFault(value);
          }
          break;
        case 17:
          if (name.toLowerCase() === "transfer-encoding") {
            const value = headers[index + 1] ?? "";
            if (this.chunked || !isChunkedCoding(value)) fault ??= codingFault(value);
            this.chunked = true;
          }
          break;
        default:
          break;
      }
    }
    if (!upgrades) this.upgrade = undefined;
    // What says it has a body, and must have none, may send one all the same.
    const overfull = this.bodiless && (this.chunked || (this.length ?? 0) > 0);
    this.persistent = !closes && !overfull && (keeps || !this.#isOld);
    if (this.chunked && this.length !== undefined) return "a length and a transfer coding";
    // HTTP/1.0 knows no transfer codings: who understands one there and who does not would disagree.
    if (this.chunked && this.#isOld) return "a transfer coding in HTTP/1.0";
    return fault;
  }
}

/** Bytes of an answer's head (`security.md` H9). */
const limit = 65_536;

/** Heads of answers. */
export const responseHeads: HeadKind<ResponseHead, string> = {
  limit,
  create: () => new ResponseHead(),
  mayBegin: (text) => text.startsWith(statusLineStart.slice(0, text.length)) || text.startsWith(statusLineStart),
  faults: {
    tooLong: `a head over ${limit} bytes`,
    control: "a control byte in its head",
    firstLine: "a status line that is none",
  },
};
