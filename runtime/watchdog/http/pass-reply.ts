import type { ServerResponse } from "node:http";

import { endToEndHeaders } from "../../core/headers/hop-by-hop.ts";
import type { KeepBytes, UpstreamListener } from "../../core/ports/upstream.ts";
import { joinedBody } from "../../http1/latin1.ts";
import { refuse } from "../function-handler.ts";
import { replyFault } from "./reply-fault.ts";

const continues = 100;

/** Passes the reply of the function's process on to its caller, a stream without delay. */
export class ReplyPass implements UpstreamListener {
  readonly #response: ServerResponse;
  readonly #resume: () => void;
  readonly #log: (line: string) => void;
  /** The head, until the end of this turn of the event loop: a reply that breaks a rule until then is replaced by an error. */
  #head: { readonly status: number; readonly headers: string[] } | undefined;
  /** What arrived with it. */
  #held: Buffer[] = [];
  #drainAwaited = false;

  /** `resume` continues a reply that was paused because the caller reads slowly. */
  constructor(response: ServerResponse, resume: () => void, log: (line: string) => void) {
    this.#response = response;
    this.#resume = resume;
    this.#log = log;
  }

  onInterim(status: number, headers: readonly string[]): void {
    const response = this.#response;
    if (response.headersSent || response.destroyed || response.req.httpVersionMinor === 0) return;
    if (status === continues) response.writeContinue();
    else response.writeInformation(status, endToEndHeaders(headers));
  }

  onHead(status: number, headers: readonly string[]): void {
    this.#head = { status, headers: endToEndHeaders(headers) };
    setImmediate(() => this.#flush());
  }

  onData(chunk: Uint8Array, keep?: KeepBytes): boolean {
    const isShort = chunk.byteLength <= joinedBody;
    if (this.#head !== undefined && isShort && this.#held.length === 0) {
      this.#held.push(Buffer.from(chunk));
      return true;
    }
    this.#flush();
    const response = this.#response;
    if (response.destroyed) return true;
    const more = isShort || keep === undefined ? response.write(Buffer.from(chunk)) : response.write(chunk, keep());
    if (!more) this.#awaitDrain();
    return more;
  }

  onTrailers(trailers: readonly string[]): void {
    this.#flush();
    const pairs: [string, string][] = [];
    for (let index = 0; index + 1 < trailers.length; index += 2)
      pairs.push([trailers[index] ?? "", trailers[index + 1] ?? ""]);
    this.#response.addTrailers(pairs);
  }

  onEnd(): void {
    this.#begin();
    this.#response.end(this.#held.pop());
  }

  onError(kind: "refused" | "reset" | "malformed", err: Error): void {
    const response = this.#response;
    this.#head = undefined;
    if (response.writableEnded || response.destroyed) return;
    this.#log(`no whole reply of the process: ${err.message}`);
    const { status, sentence } = replyFault(kind, err);
    refuse(response, status, sentence);
  }

  /** Makes the head. */
  #begin(): void {
    const head = this.#head;
    this.#head = undefined;
    if (head === undefined || this.#response.headersSent) return;
    this.#response.sendDate = false;
    this.#response.writeHead(head.status, head.headers);
  }

  #flush(): void {
    if (this.#head === undefined) return;
    this.#begin();
    // Sends the head even if it is alone, and byte for byte; `flushHeaders` would encode it as UTF-8.
    if (!this.#response.destroyed && !this.#response.writableEnded)
      this.#response.write(this.#held.pop() ?? new Uint8Array(0));
  }

  #awaitDrain(): void {
    if (this.#drainAwaited) return;
    this.#drainAwaited = true;
    this.#response.once("drain", () => {
      this.#drainAwaited = false;
      this.#resume();
    });
  }
}
