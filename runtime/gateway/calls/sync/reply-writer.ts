import type { KeepBytes } from "../../../core/ports/upstream.ts";
import type { CachedHeaders } from "../../../core/headers/cached-headers.ts";
import { joinedBody, latin1 } from "../../../http1/latin1.ts";
import type { Exchange } from "../exchange.ts";
import type { FlushLater, Unsent } from "./flush-later.ts";

/** Writes one reply so that what comes in one piece leaves in one piece, and a stream waits for nothing. */
export class ReplyWriter implements Unsent {
  /** Bytes of the body so far. */
  bytes = 0;
  readonly #exchange: Exchange;
  /** The head, or head and first bytes, wait for the rest of this turn of the event loop. */
  #unsent = false;
  /** One character per byte. */
  #held: string | undefined;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /**
   * `added` comes behind what is passed on.
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
      // The head goes with it.
      this.#unsent = false;
    }
    this.flush();
    if (isShort) return this.#exchange.write(latin1(chunk), "latin1");
    return keep === undefined ? this.#exchange.write(Buffer.from(chunk)) : this.#exchange.write(chunk, keep());
  }

  /** Takes back a head of which nothing was sent; false: it is out. */
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
