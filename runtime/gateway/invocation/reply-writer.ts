import type { CallResponse } from "./exchange.ts";

import { joinedBody, latin1 } from "../../core/latin1.ts";
import type { FlushLater, Unsent } from "./flush-later.ts";

const nothing = new Uint8Array(0);

/** Writes one reply so that what comes in one piece leaves in one piece, and a stream waits for nothing. */
export class ReplyWriter implements Unsent {
  /** Bytes of the body so far. */
  bytes = 0;
  readonly #response: CallResponse;
  /** The head, or head and first bytes, wait for the rest of this turn of the event loop. */
  #unsent = false;
  #held: Uint8Array | undefined;

  constructor(response: CallResponse) {
    this.#response = response;
  }

  /** @throws TypeError when a header cannot be sent; then nothing was sent */
  begin(status: number, headers: string[], later: FlushLater): void {
    this.#response.writeHead(status, headers);
    this.#unsent = true;
    later.add(this);
  }

  /** False asks to wait for the response's `drain`. */
  write(chunk: Uint8Array): boolean {
    this.bytes += chunk.byteLength;
    if (this.#unsent && this.#held === undefined) {
      this.#held = chunk;
      return true;
    }
    this.flush();
    return this.#response.write(chunk);
  }

  flush(): void {
    if (!this.#unsent) return;
    this.#unsent = false;
    // Not by flushHeaders(), which would encode bytes of header values above 127 as UTF-8.
    this.#response.write(this.#held ?? nothing);
    this.#held = undefined;
  }

  end(): void {
    const held = this.#held;
    this.#unsent = false;
    this.#held = undefined;
    if (held === undefined) this.#response.end();
    else if (held.byteLength <= joinedBody) this.#response.end(latin1(held), "latin1");
    else this.#response.end(held);
  }
}
