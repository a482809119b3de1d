import { joinedBody, latin1 } from "../../core/latin1.ts";
import { joinHeaders, type RepeatedHeaders } from "../../core/repeated-headers.ts";
import { PlainResponse } from "../fast-path/plain-response.ts";
import type { CallResponse } from "./exchange.ts";
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
  begin(status: number, passed: RepeatedHeaders, added: string[], later: FlushLater): void {
    const response = this.#response;
    if (response instanceof PlainResponse) response.writeHead(status, added, passed);
    else response.writeHead(status, joinHeaders(passed, added));
    this.#unsent = true;
    later.add(this);
  }

  /** False asks to wait for the response's `drain`. The chunk is lent, as `UpstreamListener` says. */
  write(chunk: Uint8Array): boolean {
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
    return this.#response.write(this.#response instanceof PlainResponse ? chunk : Buffer.from(chunk));
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
