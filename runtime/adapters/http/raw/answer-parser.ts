import { headerLine, httpGrammar } from "../../../core/http-grammar.ts";
import { AnswerHead } from "./answer-head.ts";
import { HeadMemory } from "./head-memory.ts";

/** Bounds of an answer (`security.md` H9). */
const headLimit = 65_536;
const mostInterimAnswers = 10;
/** Of one chunk's size and its extensions, as node's own limit. */
const chunkLineLimit = 16_384;
const trailerLimit = headLimit;
const status = { continue: 100, switching: 101, final: 200, last: 599 } as const;

const headEnd = Buffer.from("\r\n\r\n");
const lineFeed = 0x0a;
/** Bytes that are part of no line. */
const control = /[^\t\r\x20-\x7e\x80-\xff]/;
const { token } = httpGrammar;
const quoted = '"(?:[\\t\\x20\\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"';
const chunkLine = new RegExp(`^([0-9A-Fa-f]{1,16})(?:;${token}(?:=(?:${token}|${quoted}))?)*\\r\\n$`);
const trailerLine = new RegExp(`^${headerLine}$`);
/** A trailer cannot say how its message is framed (RFC 9110 §6.5.1), and others, as node:http, take the answer for malformed. */
const lengthTrailer = /^content-length:/i;
const emptyLine = "\r\n";

/** Hears of one answer what it consists of; each may call `stop`. */
export interface AnswerSink {
  /** The head of the final answer, headers flat. */
  onAnswerHead(status: number, headers: readonly string[]): void;
  /** `chunk` is the sink's for this call only. */
  onAnswerData(chunk: Buffer): void;
  /** `keepAlive`: milliseconds that the replica says it keeps the connection; `persistent`: whether it may be used again. */
  onAnswerEnd(persistent: boolean, keepAlive: number | undefined): void;
  /** The replica changed to the protocol that was asked for; `rest` came behind the head. */
  onSwitch(headers: readonly string[], rest: Buffer): void;
  /** Says what the answer has that it must not have; nothing follows. */
  onMalformed(why: string): void;
}

/** What was asked, as far as it tells how the answer is framed. */
export interface AskedFor {
  /** Whether the answer has no body whatever its head says. */
  readonly headOnly: boolean;
  readonly upgrade: string | undefined;
}

type State = "idle" | "head" | "length" | "chunk-size" | "chunk" | "chunk-end" | "trailers" | "until-close";

/**
 * Reads the answers of one connection, one after another, from whatever pieces they come in. What is not exactly HTTP/1.1
 * is refused: nothing is guessed, as the next answer would be guessed, too.
 */
export class AnswerParser {
  readonly #sink: AnswerSink;
  readonly #memory: HeadMemory;
  #head = new AnswerHead();
  #state: State = "idle";
  #asked: AskedFor = { headOnly: false, upgrade: undefined };
  /** Of a line whose end did not come yet. */
  #held = "";
  /** Bytes of the head, or of the trailers. */
  #size = 0;
  #interimAnswers = 0;
  /** Bytes of the body, or of the chunk, that are still to come. */
  #left = 0;

  /** `memory` is shared by all connections to one replica. */
  constructor(sink: AnswerSink, memory = new HeadMemory()) {
    this.#sink = sink;
    this.#memory = memory;
  }

  /** Bytes that are still to come of the body, or of its chunk, as far as is known. */
  get expected(): number {
    return this.#state === "length" || this.#state === "chunk" ? this.#left : 0;
  }

  /** An answer is to come. */
  begin(asked: AskedFor): void {
    this.#asked = asked;
    this.#interimAnswers = 0;
    this.#beginHead();
  }

  /** Nobody wants the rest. */
  stop(): void {
    this.#state = "idle";
  }

  /** Reads what came next. */
  parse(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      switch (this.#state) {
        case "idle":
          return;
        case "head":
          at = this.#readHead(chunk, at);
          break;
        case "length":
        case "chunk":
          at = this.#readCounted(chunk, at);
          break;
        case "until-close":
          this.#sink.onAnswerData(at === 0 ? chunk : chunk.subarray(at));
          return;
        default:
          at = this.#readLine(chunk, at);
      }
    }
  }

  /** The replica ended the connection. False when that cuts the answer short. */
  end(): boolean {
    if (this.#state !== "until-close") return false;
    this.#over(false);
    return true;
  }

  #beginHead(): void {
    this.#head = new AnswerHead();
    this.#held = "";
    this.#size = 0;
    this.#state = "head";
  }

  /** Gives where the body begins, or the chunk's length. */
  #readHead(chunk: Buffer, at: number): number {
    const found = chunk.indexOf(headEnd, at);
    const end = found === -1 ? chunk.length : found + headEnd.length;
    const piece = chunk.toString("latin1", at, Math.min(end, at + headLimit - this.#size));
    const whole = found !== -1 && this.#size === 0;
    const known = whole ? this.#memory.recall(piece) : undefined;
    if (known !== undefined) {
      this.#head = known;
      return this.#readBody(chunk, end);
    }
    const cut = piece.lastIndexOf("\n") + 1;
    if (cut > 0) {
      const before = this.#held.length;
      const read = this.#head.read(before === 0 ? piece.slice(0, cut) : this.#held + piece.slice(0, cut));
      if (typeof read === "string") return this.#refuse(chunk, read);
      if (read !== -1) {
        if (whole && read === piece.length) this.#memory.keep(piece, this.#head);
        return this.#readBody(chunk, at + read - before);
      }
      this.#held = "";
    }
    this.#size += piece.length;
    if (this.#size === headLimit) return this.#refuse(chunk, `a head over ${headLimit} bytes`);
    const rest = piece.slice(cut);
    this.#held += rest;
    if (control.test(rest)) return this.#refuse(chunk, "a control byte in its head");
    if (this.#head.status === 0 && !AnswerHead.mayBegin(this.#held))
      return this.#refuse(chunk, "a status line that is none");
    return chunk.length;
  }

  /** The head is over: what follows it begins at `at`. */
  #readBody(chunk: Buffer, at: number): number {
    const head = this.#head;
    const { headOnly, upgrade } = this.#asked;
    if (head.status === status.switching) return this.#switch(chunk, at, upgrade);
    if (head.status <= status.continue || head.status > status.last)
      return this.#refuse(chunk, `status ${head.status}`);
    if (head.status < status.final) {
      this.#interimAnswers += 1;
      if (this.#interimAnswers > mostInterimAnswers)
        return this.#refuse(chunk, `more than ${mostInterimAnswers} interim answers`);
      if (!head.persistent) return this.#refuse(chunk, "an interim answer that is to be the last");
      this.#beginHead();
      return at;
    }
    const empty = headOnly || head.bodiless || head.length === 0;
    this.#left = head.length ?? 0;
    this.#held = "";
    if (head.chunked) this.#state = "chunk-size";
    else this.#state = head.length === undefined && !empty ? "until-close" : "length";
    this.#sink.onAnswerHead(head.status, head.headers);
    if (empty) this.#over(at === chunk.length);
    return at;
  }

  #switch(chunk: Buffer, at: number, upgrade: string | undefined): number {
    if (upgrade === undefined || this.#head.upgrade !== upgrade)
      return this.#refuse(chunk, "a change to a protocol that nobody asked for");
    this.#state = "idle";
    this.#sink.onSwitch(this.#head.headers, chunk.subarray(at));
    return chunk.length;
  }

  #readCounted(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#left);
    this.#left -= end - at;
    const isLast = this.#left === 0;
    const counted = this.#state === "length";
    if (isLast && !counted) this.#state = "chunk-end";
    this.#sink.onAnswerData(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end));
    if (isLast && counted) this.#over(end === chunk.length);
    return end;
  }

  /** A chunk's size, the end of a chunk, or a trailer. */
  #readLine(chunk: Buffer, at: number): number {
    const found = chunk.indexOf(lineFeed, at);
    const end = found === -1 ? chunk.length : found + 1;
    const limit =
      this.#state === "chunk-size" ? chunkLineLimit : this.#state === "trailers" ? trailerLimit - this.#size : 2;
    if (this.#held.length + end - at > limit)
      return this.#refuse(chunk, `a line that is too long for a ${this.#state}`);
    const piece = chunk.toString("latin1", at, end);
    this.#held += piece;
    if (found === -1) return end;
    const line = this.#held;
    this.#held = "";
    if (this.#state === "chunk-size") return this.#readChunkSize(chunk, line, end);
    if (line !== emptyLine && !(this.#state === "trailers" && trailerLine.test(line) && !lengthTrailer.test(line)))
      return this.#refuse(chunk, `a line that is no ${this.#state}`);
    if (this.#state === "chunk-end") this.#state = "chunk-size";
    else if (line === emptyLine) this.#over(end === chunk.length);
    else this.#size += line.length;
    return end;
  }

  #readChunkSize(chunk: Buffer, line: string, at: number): number {
    const size = Number.parseInt(chunkLine.exec(line)?.[1] ?? "", 16);
    if (!Number.isSafeInteger(size)) return this.#refuse(chunk, "a chunk size that is none");
    this.#left = size;
    this.#size = 0;
    this.#state = size === 0 ? "trailers" : "chunk";
    return at;
  }

  /** `clean`: nothing came behind the answer. */
  #over(clean: boolean): void {
    // Nobody wanted the rest.
    if (this.#state === "idle") return;
    const { persistent, keepAlive } = this.#head;
    const mayGoOn = persistent && clean && this.#state !== "until-close";
    this.#state = "idle";
    this.#sink.onAnswerEnd(mayGoOn, keepAlive);
  }

  #refuse(chunk: Buffer, why: string): number {
    this.#state = "idle";
    this.#sink.onMalformed(`the answer has ${why}`);
    return chunk.length;
  }
}
