import { responseHeads, type ResponseHead } from "./response-head.ts";
import { ChunkedReader } from "./chunked-reader.ts";
import type { HeadCache } from "./head-cache.ts";
import { HeadPieces } from "./head-pieces.ts";

const mostInterimAnswers = 10;
const status = { continue: 100, switching: 101, final: 200, last: 599 } as const;

/** Hears of one answer what it consists of; each may call `stop`. */
export interface ResponseSink {
  /** The head of the final answer, headers flat. */
  onAnswerHead(status: number, headers: readonly string[]): void;
  /** `chunk` is borrowed for this call. */
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

type State = "idle" | "head" | "length" | "chunked" | "until-close";

/**
 * Reads the answers of one connection, one after another, from whatever pieces they come in. What is not exactly HTTP/1.1
 * is refused: nothing is guessed, as the next answer would be guessed, too.
 */
export class ResponseParser {
  readonly #sink: ResponseSink;
  readonly #heads: HeadPieces<ResponseHead, string>;
  readonly #onData = (piece: Buffer): void => {
    // Whoever heard the piece before may have stopped.
    if (this.#state === "chunked") this.#sink.onAnswerData(piece);
  };
  #state: State = "idle";
  #asked: AskedFor = { headOnly: false, upgrade: undefined };
  #interimAnswers = 0;
  /** Bytes of a body with a length that are still to come. */
  #left = 0;
  #chunks: ChunkedReader | undefined;

  /** `memory` is shared by all connections to one replica. */
  constructor(sink: ResponseSink, memory?: HeadCache<ResponseHead>) {
    this.#sink = sink;
    this.#heads = new HeadPieces(responseHeads, memory);
  }

  /** Bytes that are still to come of the body, or of its chunk, as far as is known. */
  get expected(): number {
    if (this.#state === "length") return this.#left;
    return this.#state === "chunked" ? (this.#chunks?.left ?? 0) : 0;
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
          at = this.#readCounted(chunk, at);
          break;
        case "chunked":
          at = this.#readChunked(chunk, at);
          break;
        default:
          this.#sink.onAnswerData(at === 0 ? chunk : chunk.subarray(at));
          return;
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
    this.#heads.begin();
    this.#state = "head";
  }

  /** Gives where the body begins, or the chunk's length. */
  #readHead(chunk: Buffer, at: number): number {
    const read = this.#heads.read(chunk, at);
    if (typeof read === "string") return this.#refuse(chunk, read);
    return read === -1 ? chunk.length : this.#readBody(chunk, read);
  }

  /** The head is over: what follows it begins at `at`. */
  #readBody(chunk: Buffer, at: number): number {
    const { head } = this.#heads;
    const { headOnly, upgrade } = this.#asked;
    if (head.status === status.switching) return this.#switch(chunk, at, upgrade);
    if (head.status < status.continue || head.status > status.last) return this.#refuse(chunk, `status ${head.status}`);
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
    this.#chunks = head.chunked ? new ChunkedReader(this.#onData) : undefined;
    if (head.chunked) this.#state = "chunked";
    else this.#state = head.length === undefined && !empty ? "until-close" : "length";
    this.#sink.onAnswerHead(head.status, head.headers);
    if (empty) this.#over(at === chunk.length);
    return at;
  }

  #switch(chunk: Buffer, at: number, upgrade: string | undefined): number {
    if (upgrade === undefined || this.#heads.head.upgrade !== upgrade)
      return this.#refuse(chunk, "a change to a protocol that nobody asked for");
    this.#state = "idle";
    this.#sink.onSwitch(this.#heads.head.headers, chunk.subarray(at));
    return chunk.length;
  }

  #readCounted(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#left);
    this.#left -= end - at;
    this.#sink.onAnswerData(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end));
    if (this.#left === 0) this.#over(end === chunk.length);
    return end;
  }

  #readChunked(chunk: Buffer, at: number): number {
    const chunks = this.#chunks;
    if (chunks === undefined) return chunk.length;
    const read = chunks.read(chunk, at);
    if (this.#state === "idle") return chunk.length;
    if (typeof read === "string") return this.#refuse(chunk, read);
    if (chunks.over) this.#over(read === chunk.length);
    return read;
  }

  /** `clean`: nothing came behind the answer. */
  #over(clean: boolean): void {
    // Nobody wanted the rest.
    if (this.#state === "idle") return;
    const { persistent, keepAlive } = this.#heads.head;
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
