import { publicly, type PublicSentence } from "../api/public-sentence.ts";
import { connectionOptions } from "../api/http-grammar.ts";
import { contentLengthOf, isChunkedCoding, responseLimits } from "./framing-rules.ts";
import type { HeadKind, HeadText } from "./head-assembler.ts";
import { readHeaderLines } from "./header-lines.ts";

const lineEnd = "\r\n";
const statusLine = /HTTP\/1\.([01]) (\d{3})(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/y;
const statusLineStart = "HTTP/1.";
const bodilessStatus = { noContent: 204, notModified: 304 } as const;
const keepAliveTimeout = /timeout=(\d+)/i;
/** Lower statuses are interim responses, which another head follows. */
const firstFinal = 200;

/** The head of one response, parsed line by line, and how the body after it is framed (`security.md` H9). */
export class ResponseHead implements HeadText<PublicSentence> {
  /** 0 until the status line was read. */
  status = 0;
  /** Flat, as sent. */
  readonly headers: string[] = [];
  /** Bytes of the body by `Content-Length`; undefined without one. */
  length: number | undefined;
  chunked = false;
  /** Whether the head allows the connection to be used again after this response. */
  persistent = false;
  /** Milliseconds for which the replica keeps an idle connection, if it says so. */
  keepAlive: number | undefined;
  /** The protocol it switches to, in lower case; set only if `Connection` names `upgrade`. */
  upgrade: string | undefined;
  #isOld = false;

  /**
   * Parses `text`, which ends with a line's end. Returns the offset in it where the body begins, -1 while the head is
   * incomplete, or the fault.
   */
  read(text: string): number | PublicSentence {
    let at = 0;
    if (this.status === 0) {
      statusLine.lastIndex = 0;
      const match = statusLine.exec(text);
      if (match === null) return publicly`an invalid status line`;
      this.#isOld = match[1] === "0";
      this.status = Number(match[2]);
      // A status of 000 must not pass for a status line not yet read.
      if (this.status === 0) return publicly`status 0`;
      at = statusLine.lastIndex;
    }
    at = readHeaderLines(text, at, this.headers);
    if (at === text.length) return -1;
    return text.startsWith(lineEnd, at)
      ? (this.#readFraming() ?? at + lineEnd.length)
      : publicly`an invalid header line`;
  }

  /** Whether its status forbids a body. */
  get bodiless(): boolean {
    return this.status === bodilessStatus.noContent || this.status === bodilessStatus.notModified;
  }

  get cacheable(): boolean {
    return this.status >= firstFinal;
  }

  /** Sets the framing fields, and returns what is wrong with them. */
  #readFraming(): PublicSentence | undefined {
    const { headers } = this;
    let closes = false;
    let keeps = false;
    let upgrades = false;
    let fault: PublicSentence | undefined;
    for (let index = 0; index + 1 < headers.length; index += 2) {
      const name = headers[index] ?? "";
      // The length alone rules out most names.
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
            if (this.length !== undefined) return publicly`two lengths`;
            this.length = contentLengthOf(value);
            if (this.length === undefined) return publicly`a length that is no whole number of bytes`;
          }
          break;
        case 17:
          if (name.toLowerCase() === "transfer-encoding") {
            const value = headers[index + 1] ?? "";
            if (this.chunked || !isChunkedCoding(value)) fault ??= publicly`a transfer coding other than "chunked"`;
            this.chunked = true;
          }
          break;
        default:
          break;
      }
    }
    if (!upgrades) this.upgrade = undefined;
    // A response that must not have a body but declares one may send it anyway.
    const mayHaveExcess = this.bodiless && (this.chunked || (this.length ?? 0) > 0);
    this.persistent = !closes && !mayHaveExcess && (keeps || !this.#isOld);
    if (this.chunked && this.length !== undefined) return publicly`a length and a transfer coding`;
    // HTTP/1.0 has no transfer codings: parsers that accept one would frame the body differently from those that do
    // not.
    if (this.chunked && this.#isOld) return publicly`a transfer coding in HTTP/1.0`;
    return fault;
  }
}

export const responseHeads: HeadKind<ResponseHead, PublicSentence> = {
  limit: responseLimits.head,
  create: () => new ResponseHead(),
  mayBegin: (text) => text.startsWith(statusLineStart.slice(0, text.length)) || text.startsWith(statusLineStart),
  faults: {
    tooLong: publicly`a head over the limit of ${responseLimits.head} bytes`,
    control: publicly`a control byte in its head`,
    firstLine: publicly`an invalid status line`,
  },
};
