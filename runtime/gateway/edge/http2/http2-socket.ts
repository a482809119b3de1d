import type { ServerHttp2Stream } from "node:http2";
import { Socket } from "node:net";

import { cutUnread, destroyUnread } from "../http1/cut-unread.ts";
import { cutStream, stopReading } from "./cut-stream.ts";

/** What a request over HTTP/2 has for a connection: its stream alone, so that ending it harms no other request. */
export class Http2Socket extends Socket {
  readonly #stream: ServerHttp2Stream;

  constructor(stream: ServerHttp2Stream) {
    super();
    this.#stream = stream;
    const remoteAddress = stream.session?.socket.remoteAddress;
    Object.defineProperty(this, "remoteAddress", { value: remoteAddress });
    stream.once("close", () => super.destroy());
  }

  /** Resets the stream; one whose reply was sent whole only stops being read. */
  override destroy(): this {
    cutStream(this.#stream);
    return super.destroy();
  }

  override destroySoon(): void {
    if (!this.#stream.destroyed) stopReading(this.#stream);
  }

  /** Cuts a client that reads nothing of what waits for it for so many milliseconds. */
  override setTimeout(timeout: number): this {
    cutUnread(this.#stream, timeout, () => destroyUnread(this));
    return this;
  }
}
