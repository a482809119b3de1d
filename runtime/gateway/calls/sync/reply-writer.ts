import type { KeepBytes } from "../../../core/ports/upstream.ts";
import type { CachedHeaders } from "../../../core/headers/cached-headers.ts";
import { joinedBody, latin1 } from "../../../http1/latin1.ts";
import type { Exchange } from "../exchange.ts";
import type { FlushLater, Unsent } from "./flush-later.ts";

/** Writes one reply: one that arrives whole leaves in one write, and a stream is not delayed. */
export class ReplyWriter implements Unsent {
  /** Bytes of the body written so far. */
  bytes = 0;
  readonly #exchange: Exchange;
  /** Whether the head, and possibly first bytes, are held back until the end of this turn of the event loop. */
  #unsent = false;
  /** One character per byte. */
  #held: string | undefined;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /**
   * `added` follows the headers that are passed on.
   * @throws Error when a header cannot be sent; then nothing was sent
   */
  begin(status: number, passed: CachedHeaders, added: string[], later: FlushLater): void {
    this.#exchange.writeHead(status, added, passed);
    this.#unsent = true;
    later.add(this);
  }

  /** False asks to wait for the exchange's `drain`. The chunk is borrowed, as `UpstreamListener` says. */
  write(chunk: Uint8Array, keep?: KeepBytes): boolean {
    this.bytes += chunk.byteLength;
    const isShort = chunk.byteLength <= joinedBody;
    if (this.#unsent && this.#held === undefined) {
      if (isShort) {
        this.#held = latin1(chunk);
        return true;
      }
      // The head leaves with the chunk.
      this.#unsent = false;
    }
    this.flush();
    if (isShort) return this.#exchange.write(latin1(chunk), "latin1");
    return keep === undefined ? this.#exchange.write(Buffer.from(chunk)) : this.#exchange.write(chunk, keep());
  }

  /** Withdraws a head of which nothing was sent; false if some of it was sent. */
  takeBack(): boolean {
    if (!this.#exchange.takeBack()) return false;
    this.bytes = 0;
    this.#unsent = false;
    this.#held = undefined;
    return true;
  }

  flush(): void {
    if (!this.#unsent) return;
    this.#unsent = false;
    this.#exchange.write(this.#held ?? "", "latin1");
    this.#held = undefined;
  }

  end(): void {
    const held = this.#held;
    this.#unsent = false;
    this.#held = undefined;
    if (held === undefined) this.#exchange.end();
    else this.#exchange.end(held, "latin1");
  }
}
