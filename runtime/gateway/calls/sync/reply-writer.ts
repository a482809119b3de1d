import type { KeepBytes } from "../../../core/ports/upstream.ts";
import { joinHeaders, type CachedHeaders } from "../../../core/headers/cached-headers.ts";
import { joinedBody, latin1 } from "../../../http1/latin1.ts";
import { Http1Response } from "../../edge/http1/http1-response.ts";
import type { CallResponse } from "../exchange.ts";
import type { FlushLater, Unsent } from "./flush-later.ts";

const nothing = new Uint8Array(0);

/** Writes one reply so that what comes in one piece leaves in one piece, and a stream waits for nothing. */
export class ReplyWriter implements Unsent {
  /** Bytes of the body so far. */
  bytes = 0;
  readonly #response: CallResponse;
  /** The head, or head and first bytes, wait for the rest of this turn of the event loop. */
  #unsent = false;
  /** One character per byte. */
  #held: string | undefined;

  constructor(response: CallResponse) {
    this.#response = response;
  }

  /**
   * `added` comes behind what is passed on.
   * @throws Error when a header cannot be sent; then nothing was sent
   */
  begin(status: number, passed: CachedHeaders, added: string[], later: FlushLater): void {
    const response = this.#response;
    if (response instanceof Http1Response) response.writeHead(status, added, passed);
    else response.writeHead(status, joinHeaders(passed, added));
    this.#unsent = true;
    later.add(this);
  }

  /** False asks to wait for the response's `drain`. The chunk is borrowed, as `UpstreamListener` says. */
  write(chunk: Uint8Array, keep?: KeepBytes): boolean {
    this.bytes += chunk.byteLength;
    const isShort = chunk.byteLength <= joinedBody;
    if (this.#unsent && this.#held === undefined) {
      if (isShort) {
        this.#held = latin1(chunk);
        return true;
      }
      // The head goes with it.
      this.#unsent = false;
    }
    this.flush();
    if (isShort) return this.#response.write(latin1(chunk), "latin1");
    return keep === undefined ? this.#response.write(Buffer.from(chunk)) : this.#response.write(chunk, keep());
  }

  /** Takes back a head of which nothing was sent; false: it is out. */
  takeBack(): boolean {
    if (!this.#response.takeBack()) return false;
    this.bytes = 0;
    this.#unsent = false;
    this.#held = undefined;
    return true;
  }

  flush(): void {
    if (!this.#unsent) return;
    this.#unsent = false;
    // Not by flushHeaders(), which would encode bytes of header values above 127 as UTF-8.
    if (this.#held === undefined) this.#response.write(nothing);
    else this.#response.write(this.#held, "latin1");
    this.#held = undefined;
  }

  end(): void {
    const held = this.#held;
    this.#unsent = false;
    this.#held = undefined;
    if (held === undefined) this.#response.end();
    else this.#response.end(held, "latin1");
  }
}
