import { publicly, type PublicSentence } from "../api/public-sentence.ts";
import { responseHeads, type ResponseHead } from "./response-head.ts";
import { ChunkedReader } from "./chunked-reader.ts";
import type { HeadCache } from "./head-cache.ts";
import { HeadAssembler } from "./head-assembler.ts";
import { responseLimits } from "./framing-rules.ts";

const status = { continue: 100, switching: 101, final: 200, last: 599 } as const;

/** Receives the parts of one response; each method may call `stop`. */
export interface ResponseSink {
  /** An interim response other than a switch of protocols, headers flat. */
  onInterim?(status: number, headers: readonly string[]): void;
  /** The head of the final response, headers flat. */
  onHead(status: number, headers: readonly string[]): void;
  /** `chunk` is borrowed for this call. */
  onData(chunk: Buffer): void;
  /** Before `onEnd`: trailers of the body, flat. */
  onTrailers?(trailers: readonly string[]): void;
  /** Before `onEnd`: bytes followed that are no part of the response. */
  onExcess?(): void;
  /**
   * `persistent`: whether the connection may be used again; `keepAlive`: milliseconds for which the replica keeps it.
   */
  onEnd(persistent: boolean, keepAlive: number | undefined): void;
  /** The replica switched to the requested protocol; `rest` are the bytes after the head. */
  onSwitch(headers: readonly string[], rest: Buffer): void;
  /** The response breaks a rule: `why` follows "its reply has". No other call follows. */
  onMalformed(why: PublicSentence): void;
}

/** The facts of a request that decide how its response is framed. */
export interface ResponseContext {
  /** Whether the response has no body, whatever its head says. */
  readonly headOnly: boolean;
  readonly upgrade: string | undefined;
}

type State = "idle" | "head" | "length" | "chunked" | "until-close";

/**
 * Parses the responses of one connection one after another, however their bytes are split. Anything but exact HTTP/1.1
 * is refused: a guess about one response would be a guess about the next one, too.
 */
export class ResponseParser {
  readonly #sink: ResponseSink;
  readonly #heads: HeadAssembler<ResponseHead, PublicSentence>;
  readonly #onData = (chunk: Buffer): void => {
    // The sink may have called `stop` on an earlier chunk.
    if (this.#state === "chunked") this.#sink.onData(chunk);
  };
  #state: State = "idle";
  #asked: ResponseContext = { headOnly: false, upgrade: undefined };
  #interimResponses = 0;
  /** Bytes still to come of a body with a length. */
  #left = 0;
  #chunks: ChunkedReader | undefined;

  /** `cache` is shared by all connections to one replica. */
  constructor(sink: ResponseSink, cache?: HeadCache<ResponseHead>) {
    this.#sink = sink;
    this.#heads = new HeadAssembler(responseHeads, cache);
  }

  /** Bytes still to come of the body, or of its current transfer chunk, as far as is known. */
  get expected(): number {
    if (this.#state === "length") return this.#left;
    return this.#state === "chunked" ? (this.#chunks?.left ?? 0) : 0;
  }

  /** Starts the next response. */
  begin(asked: ResponseContext): void {
    this.#asked = asked;
    this.#interimResponses = 0;
    this.#beginHead();
  }

  /** Ignores the rest of the response. */
  stop(): void {
    this.#state = "idle";
  }

  /** Parses the next bytes. */
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
          this.#sink.onData(at === 0 ? chunk : chunk.subarray(at));
          return;
      }
    }
  }

  /** The replica ended the connection. False if the response is incomplete. */
  end(): boolean {
    if (this.#state !== "until-close") return false;
    this.#finish(true);
    return true;
  }

  #beginHead(): void {
    this.#heads.begin();
    this.#state = "head";
  }

  /** Returns where the body begins, or the chunk's length. */
  #readHead(chunk: Buffer, at: number): number {
    const read = this.#heads.read(chunk, at);
    if (typeof read !== "number") return this.#refuse(chunk, read);
    return read === -1 ? chunk.length : this.#readBody(chunk, read);
  }

  /** The head is complete; the body, or the next head, begins at `at`. */
  #readBody(chunk: Buffer, at: number): number {
    const { head } = this.#heads;
    const { headOnly, upgrade } = this.#asked;
    if (head.status === status.switching) return this.#switch(chunk, at, upgrade);
    if (head.status < status.continue || head.status > status.last)
      return this.#refuse(chunk, publicly`status ${head.status}`);
    if (head.status < status.final) {
      this.#interimResponses += 1;
      if (this.#interimResponses > responseLimits.interim)
        return this.#refuse(chunk, publicly`more than ${responseLimits.interim} interim responses`);
      if (!head.persistent) return this.#refuse(chunk, publicly`an interim response that ends the connection`);
      this.#beginHead();
      this.#sink.onInterim?.(head.status, head.headers);
      return at;
    }
    const empty = headOnly || head.bodiless || head.length === 0;
    this.#left = head.length ?? 0;
    this.#chunks = head.chunked ? new ChunkedReader(this.#onData) : undefined;
    if (head.chunked) this.#state = "chunked";
    else this.#state = head.length === undefined && !empty ? "until-close" : "length";
    this.#sink.onHead(head.status, head.headers);
    if (empty) this.#finish(at === chunk.length);
    return at;
  }

  #switch(chunk: Buffer, at: number, upgrade: string | undefined): number {
    if (upgrade === undefined || this.#heads.head.upgrade !== upgrade)
      return this.#refuse(chunk, publicly`a switch to a protocol that was not requested`);
    this.#state = "idle";
    this.#sink.onSwitch(this.#heads.head.headers, chunk.subarray(at));
    return chunk.length;
  }

  #readCounted(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#left);
    this.#left -= end - at;
    this.#sink.onData(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end));
    if (this.#left === 0) this.#finish(end === chunk.length);
    return end;
  }

  #readChunked(chunk: Buffer, at: number): number {
    const chunks = this.#chunks;
    if (chunks === undefined) return chunk.length;
    const read = chunks.read(chunk, at);
    if (this.#state === "idle") return chunk.length;
    if (typeof read !== "number") return this.#refuse(chunk, read);
    if (!chunks.over) return read;
    if (chunks.trailers.length > 0) this.#sink.onTrailers?.(chunks.trailers);
    this.#finish(read === chunk.length);
    return read;
  }

  /** `clean`: no bytes followed the response. */
  #finish(clean: boolean): void {
    // The sink called `stop`.
    if (this.#state === "idle") return;
    const { persistent, keepAlive } = this.#heads.head;
    if (!clean) this.#sink.onExcess?.();
    const reusable = persistent && clean && this.#state !== "until-close";
    this.#state = "idle";
    this.#sink.onEnd(reusable, keepAlive);
  }

  #refuse(chunk: Buffer, why: PublicSentence): number {
    this.#state = "idle";
    this.#sink.onMalformed(why);
    return chunk.length;
  }
}
